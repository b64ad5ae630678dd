import { highest, lowest, type Rules, same, senderRules } from '../agreement.ts';
import { NodesDisagree } from '../chain.ts';
import type { BitcoinSender } from './sender.ts';

/** How the answers of several nodes become one, for what only Bitcoin's sender is asked. */
export const bitcoinRules: Rules<BitcoinSender> = {
  ...senderRules,
  feeRate: highest,
  replacementFee(answers) {
    // It has to be taken by every node that has the one it replaces.
    const fees = answers.filter((answer) => answer !== undefined);
    return fees.length === 0 ? undefined : highest(fees);
  },
  height: lowest,
  unspent: (answers, [outpoints]) =>
    outpoints.map((_, i) => {
      const found = answers.flatMap((answer) => answer[i] ?? []);
      if (found.length === 0) return undefined;
      if (found.length < answers.length) throw new NodesDisagree('whether an output is unspent');
      const confirmations = lowest(found.map((one) => one.confirmations));
      return same(
        'an unspent output',
        found.map(({ amount }) => ({ confirmations, amount })),
      );
    }),
  // The lower of two heights: what came after it is found in the blocks.
  unspentOf: (answers) => ({
    height: lowest(answers.map(({ height }) => height)),
    outputs: same(
      'what an address has',
      answers.map(({ outputs }) => outputs),
    ),
  }),
  received: (answers) => same('what an address received', answers),
  inputsOf: (answers) => {
    const known = answers.filter((answer) => answer !== undefined);
    return known.length === 0 ? undefined : same('what a transaction spends', known);
  },
  findSpenders: (answers) => same('who spent an output', answers),
};
