import { highest, lowest, type Rules, same, senderRules } from '../agreement.ts';
import type { SolanaSender } from './sender.ts';

/** How the answers of several nodes become one, for what only Solana's sender is asked. */
export const solanaRules: Rules<SolanaSender> = {
  ...senderRules,
  // The oldest blockhash: the one that all nodes know. Taken for valid as long as any node's would be: a transaction
  // must never be given up too early.
  lifetime(answers) {
    const validTo = answers.map((lifetime) => lifetime.lastValidBlockHeight);
    const oldest = answers[validTo.indexOf(lowest(validTo))] as (typeof answers)[number];
    return { ...oldest, lastValidBlockHeight: highest(validTo) };
  },
  unitPrice: highest,
  rents: (answers) => same('the rents', answers),
  tryTransfer: (answers) => same('a trial', answers),
  signTransfer: (answers) => same('a signature', answers),
  signNativeSweep: (answers) => same('a signature', answers),
  signTokenSweep: (answers) => same('a signature', answers),
  tokenAccounts: (answers) => same('token accounts', answers),
  // A node that is behind lacks the newest.
  signatures(answers) {
    const length = lowest(answers.map((answer) => answer.length));
    return same(
      'the hot wallet’s transactions',
      answers.map((answer) => answer.slice(0, length)),
    );
  },
  isSignedByHot: (answers) => answers.some((signed) => signed),
  // Each node has to have come that far itself, and to show all the blocks that it could be in without it.
  isDead: (answers) => answers.every((dead) => dead),
};
