import { type Lease, renewLease } from '@quittance/shared/lease';
import { openGroups, walletsWithOpenTransactions } from '../../store/replacement-groups.ts';
import { newestOf, type ReplacementGroup } from '../../store/transactions.ts';
import { reportSilence } from '../report-silence.ts';
import type { AccountChainPorts } from './driver.ts';

const WALLETS_AT_ONCE = 100;
const OPEN_AT_ONCE = 200;
/** So many are looked at together, and acted on before the next: an action that fails discards few looks. */
const CONCURRENT_LOOKS = 8;
/** After this many failed questions the node is not asked again in this round, because each one may take a timeout. */
const SILENCES_MAX = 16;

/** How the open transactions of one kind of chain are followed. `Look`: what the node shows of one group. */
export type TransactionTracker<Progress, Look> = {
  /** How far a wallet has come. Undefined when the node does not answer for the wallet. */
  progressOf(wallet: string, open: readonly ReplacementGroup[]): Promise<Progress | undefined>;
  /** Asks the node. Several groups at once. */
  look(group: ReplacementGroup, progress: Progress): Promise<Look>;
  /** Acts on the answer, one group after another. Returns whether the group moved on. */
  act(group: ReplacementGroup, look: Look, progress: Progress): Promise<boolean>;
};

/**
 * Asks the chain what became of every open transaction, and acts on the answers one by one, in the order in which the
 * chain includes them.
 * @returns how many replacement groups moved on.
 */
export async function followTransactions<Progress, Look>(
  ports: AccountChainPorts,
  lease: Lease,
  tracker: TransactionTracker<Progress, Look>,
): Promise<number> {
  const { db, chain, sender } = ports;
  let moved = 0;
  let silences = 0;
  for (const wallet of await walletsWithOpenTransactions(db, chain, sender.hotAddress, WALLETS_AT_ONCE)) {
    if (silences >= SILENCES_MAX) break;
    const open = await openGroups(db, chain, wallet, OPEN_AT_ONCE);
    const progress = await tracker.progressOf(wallet, open);
    if (progress === undefined) {
      silences += 1;
      continue;
    }
    const lookAt = async (group: ReplacementGroup) => {
      try {
        return { group, look: await tracker.look(group, progress) };
      } catch (error) {
        // A group of which the node says nothing does not delay the others.
        silences += 1;
        reportSilence(ports, newestOf(group), error);
        return undefined;
      }
    };
    for (let at = 0; at < open.length && silences < SILENCES_MAX; at += CONCURRENT_LOOKS) {
      await renewLease(ports.db, lease);
      const looks = await Promise.all(open.slice(at, at + CONCURRENT_LOOKS).map(lookAt));
      for (const seen of looks) {
        if (seen !== undefined && (await tracker.act(seen.group, seen.look, progress))) moved += 1;
      }
    }
  }
  return moved;
}
