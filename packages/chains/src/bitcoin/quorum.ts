import type { Units } from '@quittance/shared/money';
import { quorumOf, reached, same, sufficient, unopposed } from '../quorum.ts';
import { proof, type QuorumRules, senderRules } from '../quorum-sender.ts';
import type { BitcoinSender, Unspent } from './sender.ts';

/** How the answers of several nodes become one, for what only Bitcoin's sender is asked. */
export const bitcoinRules: QuorumRules<BitcoinSender> = {
  ...senderRules,
  feeRate: sufficient,
  replacementFee(answers, nodes) {
    // It has to suffice for the nodes that have the transaction it replaces.
    const fees = answers.filter((answer) => answer !== undefined).toSorted((a, b) => (a < b ? -1 : 1));
    return fees[Math.min(fees.length, quorumOf(nodes)) - 1];
  },
  height: reached,
  unspent: (answers, nodes, [outpoints]) =>
    outpoints.map((_, i) =>
      unspentOf(
        answers.map((answer) => answer[i]),
        nodes,
      ),
    ),
  // The height that a quorum was at: what came after it is found in the blocks.
  unspentOf(answers, nodes) {
    const outputs = same(
      'what an address has',
      answers.map((answer) => answer.outputs),
      nodes,
    );
    return {
      height: reached(
        answers.map(({ height }) => height),
        nodes,
      ),
      outputs,
    };
  },
  received: (answers, nodes) => same('what an address received', answers, nodes),
  // Any node that knows it will do, because the hash of the transaction covers its inputs and the sender compares it.
  inputsOf: proof((answers) => answers.find((answer) => answer !== undefined)),
  // A node that lacks one of the blocks throws: only nodes that have read them all are heard.
  findSpenders: proof((answers, nodes) => unopposed('who spent an output', answers, nodes)),
};

function unspentOf(answers: readonly (Unspent | undefined)[], nodes: number): Unspent | undefined {
  const amount = same<Units | undefined>(
    'an unspent output',
    answers.map((answer) => answer?.amount),
    nodes,
  );
  if (amount === undefined) return undefined;
  const found = answers.filter((answer) => answer !== undefined && answer.amount === amount);
  const confirmations = reached(
    found.map((one) => one?.confirmations ?? 0),
    nodes,
  );
  return { amount, confirmations };
}
