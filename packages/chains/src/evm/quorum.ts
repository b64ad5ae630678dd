import { type EvmSender, NoQuorum } from '../chain.ts';
import { quorumOf, reached, same, sufficient, unopposed } from '../quorum.ts';
import { proof, type QuorumRules, senderRules } from '../quorum-sender.ts';

/** How the answers of several nodes become one, for what only EVM senders are asked. */
export const evmRules: QuorumRules<EvmSender> = {
  ...senderRules,
  fees: (answers, nodes) => ({
    maxFeePerGas: sufficient(
      answers.map((fees) => fees.maxFeePerGas),
      nodes,
    ),
    maxPriorityFeePerGas: sufficient(
      answers.map((fees) => fees.maxPriorityFeePerGas),
      nodes,
    ),
  }),
  estimateTransfer(answers, nodes) {
    const gas = answers.filter((answer) => answer !== 'reverts');
    if (answers.length - gas.length >= quorumOf(nodes)) return 'reverts';
    if (gas.length >= quorumOf(nodes)) return sufficient(gas, nodes);
    throw new NoQuorum('whether a transfer reverts');
  },
  // What is signed follows from the order, and from what the token says of itself: not from one node alone.
  signTransfer: (answers, nodes) => same('a signature', answers, nodes),
  signNativeSweep: (answers, nodes) => same('a signature', answers, nodes),
  signTokenSweep: (answers, nodes) => same('a signature', answers, nodes),
  nonce: (answers, nodes, [, at]) =>
    at === 'finalized' ? reached(answers, nodes) : same('a nonce', answers, nodes),
  // A node that lacks one of the blocks throws: only nodes that have read them all say that none holds it.
  findByNonce: proof((answers, nodes) => unopposed('who used a nonce', answers, nodes)),
};
