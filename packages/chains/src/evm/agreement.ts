import { highest, lowest, type Rules, same, senderRules } from '../agreement.ts';
import { type EvmSender, NodesDisagree } from '../chain.ts';

/** How the answers of several nodes become one, for what only EVM senders are asked. */
export const evmRules: Rules<EvmSender> = {
  ...senderRules,
  fees: (answers) => ({
    maxFeePerGas: highest(answers.map((fees) => fees.maxFeePerGas)),
    maxPriorityFeePerGas: highest(answers.map((fees) => fees.maxPriorityFeePerGas)),
  }),
  estimateTransfer(answers) {
    const gas = answers.filter((answer) => answer !== 'reverts');
    if (gas.length === 0) return 'reverts';
    if (gas.length < answers.length) throw new NodesDisagree('whether a transfer reverts');
    return highest(gas);
  },
  // What is signed follows from the order, and from what the token says of itself: not from one node alone.
  signTransfer: (answers) => same('a signature', answers),
  signNativeSweep: (answers) => same('a signature', answers),
  signTokenSweep: (answers) => same('a signature', answers),
  // What is final on one node is final; the node that is behind does not know yet.
  nonce: (answers, [, at]) => (at === 'finalized' ? lowest(answers) : same('a nonce', answers)),
  findByNonce: (answers) => same('who used a nonce', answers),
};
