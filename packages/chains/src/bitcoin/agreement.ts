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
  unspent(answers) {
    const found = answers.filter((answer) => answer !== undefined);
    if (found.length === 0) return undefined;
    if (found.length < answers.length) throw new NodesDisagree('whether an output is unspent');
    const confirmations = lowest(found.map((one) => one.confirmations));
    return same(
      'an unspent output',
      found.map(({ amount }) => ({ confirmations, amount })),
    );
  },
  findSpenders: (answers) => same('who spent an output', answers),
};
