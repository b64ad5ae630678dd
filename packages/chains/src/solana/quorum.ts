import { NoQuorum } from '../chain.ts';
import { commonPrefix, quorumOf, same, sufficient } from '../quorum.ts';
import { proof, type QuorumRules, senderRules } from '../quorum-sender.ts';
import type { SolanaSender } from './sender.ts';
import type { Lifetime } from './transaction.ts';

/** A blockhash is valid for 150 blocks: two nodes that are further apart than that do not tell of the same chain. */
const APART_MAX = 150;
/** A node may know blocks that others do not have yet. */
const AHEAD_MAX = 32;

/** How the answers of several nodes become one, for what only Solana's sender is asked. */
export const solanaRules: QuorumRules<SolanaSender> = {
  ...senderRules,
  lifetime: lifetimeOf,
  priorityFee: sufficient,
  rents: (answers, nodes) => same('the rents', answers, nodes),
  tryTransfer: (answers, nodes) => same('a trial', answers, nodes),
  signTransfer: (answers, nodes) => same('a signature', answers, nodes),
  signNativeSweep: (answers, nodes) => same('a signature', answers, nodes),
  signTokenSweep: (answers, nodes) => same('a signature', answers, nodes),
  tokenAccounts: (answers, nodes) => same('token accounts', answers, nodes),
  // A node that is behind lacks the newest.
  signatures: (answers, nodes) => commonPrefix('the hot wallet’s transactions', answers, nodes),
  isSignedByHot: (answers, nodes) => same('who signed a transaction', answers, nodes),
  // Each node of the quorum has come that far itself and has read every block the transaction could be in. One node that has
  // the transaction stops the proof; a node that is behind, or lacks a block, proves nothing and stops nothing.
  nonInclusion: proof((answers, nodes) => {
    if (answers.includes('included')) return 'included';
    const provers = answers.filter((answer) => answer === 'proven');
    return provers.length >= quorumOf(nodes) ? 'proven' : 'unproven';
  }),
};

/**
 * The newest blockhash that a quorum can know. It is taken for valid as long as that of any node of this quorum could be, and
 * some blocks longer: a transaction must never be given up too early, whatever one node says of its end.
 */
function lifetimeOf(answers: readonly Lifetime[], nodes: number): Lifetime {
  const newestFirst = answers.toSorted((a, b) => b.lastValidBlockHeight - a.lastValidBlockHeight);
  for (const [i, newest] of newestFirst.entries()) {
    const known = newestFirst[i + quorumOf(nodes) - 1];
    if (known === undefined) break;
    const { lastValidBlockHeight } = newest;
    if (lastValidBlockHeight - known.lastValidBlockHeight > APART_MAX) continue;
    return { ...known, lastValidBlockHeight: lastValidBlockHeight + AHEAD_MAX };
  }
  throw new NoQuorum('how long a blockhash is valid');
}
