import type { Spender } from '@quittance/chains/bitcoin/search-blocks';
import type { Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { BitcoinPorts } from '../../ports.ts';
import { attemptsOf } from '../../store/replacement-groups.ts';
import type { ReplacementGroup } from '../../store/transaction-rows.ts';
import { noteDoubt, noteSearched } from '../../store/transactions.ts';
import { freeUtxos } from '../../store/utxos.ts';
import { invalidateGroup } from '../invalidate-group.ts';
import { keepLease } from '../keep-lease.ts';
import { readBitcoinTerms } from './terms.ts';

/**
 * Ends a group of which no node has anything, when it is proved that nothing of it can ever be mined: another
 * transaction that spends one of the UTXOs all its attempts share, or that UTXO's own UTXOs, is as deep in the chain as
 * a payment has to be, and no less than six blocks. Nothing else is a proof: not a refusal, not an eviction, however long it lasts.
 */
export async function invalidateConflicted(
  ports: BitcoinPorts,
  lease: Lease,
  group: ReplacementGroup,
): Promise<boolean> {
  const { db, clock, settings, throttledLog, logger } = ports;
  const [first] = group;
  try {
    const shared = readBitcoinTerms(first.terms).utxos.map(({ outpoint }) => outpoint);
    const found = await ports.sender.unspent(shared);
    const gone = shared.filter((_, i) => found[i] === undefined);
    if (gone.length === 0) {
      if (first.doubtedAt !== null) await noteDoubt(db, first.id, null);
      return false;
    }
    if (first.doubtedAt === null) {
      await noteDoubt(db, first.id, clock.now());
      const details = { transaction: first.txHash, outpoints: gone };
      logger.error(details, 'inputs of a transaction that is in no block are not in the chain');
      return false;
    }
    // What is missing may be missing on a node that is late, or come back with the next block.
    if (clock.now().getTime() - first.doubtedAt.getTime() < settings.gracePeriods.doubtForMs) return false;
    await keepLease(ports, lease);
    const conflict = await findConflict(ports, group, gone);
    if (conflict === undefined) {
      const details = { transaction: first.txHash, outpoints: gone };
      const message =
        'inputs of a transaction are gone and nothing proves that it can never be mined: it stays open';
      throttledLog.log('error', `lost.${first.id}`, details, message);
      return false;
    }
    return await invalidate(ports, lease, group, conflict);
  } catch (error) {
    const details = { transaction: first.txHash, reason: reason(error) };
    throttledLog.log(
      'warn',
      `conflict.${first.id}`,
      details,
      'the spenders of a transaction’s inputs could not be found',
    );
    return false;
  }
}

async function invalidate(
  ports: BitcoinPorts,
  lease: Lease,
  [first]: ReplacementGroup,
  { utxo, by }: Conflict,
): Promise<boolean> {
  const details = { transaction: first.txHash, utxo, by: by.txHash, height: by.height, spends: by.outpoint };
  ports.logger.error(details, 'another transaction has spent an input of one of ours for good');
  return invalidateGroup(ports, lease, first, (trx) => freeUtxos(trx, first.group, utxo));
}

/** How many blocks a round searches. */
const BLOCKS_PER_ROUND = 256;
/** What is dead stays dead: it is not invalidated before hardly a reorganisation reaches the proof, however little a payment asks. */
const PROOF_CONFIRMATIONS = 6;
/** A UTXO is gone when the one it was made of is gone, and so on: rarely more than one step. */
const STEPS_MAX = 8;

/** The UTXO that is gone for good, and the transaction that proves it, as deep as a proof has to be. */
type Conflict = { utxo: string; by: Spender };

/** An output whose spender, when it is not one of `ours`, means that `UTXO` will never be there. */
type Suspect = { outpoint: string; utxo: string; ours: ReadonlySet<string> };

/**
 * Searches the blocks since a group was signed for a transaction that can never stand beside any of its attempts.
 * Where a UTXO is not in the chain at all, because the transaction it comes from was dropped, that one's UTXOs are
 * searched for instead, as far as the node still knows what it spent. What was searched is remembered: a long search
 * goes on in the next rounds, and begins anew when it found nothing.
 */
async function findConflict(
  { db, sender }: Pick<BitcoinPorts, 'db' | 'sender'>,
  [first]: ReplacementGroup,
  gone: readonly string[],
): Promise<Conflict | undefined> {
  const attempts = new Set((await attemptsOf(db, first.group)).map(({ txHash }) => txHash));
  const suspects = await suspectsOf(
    { sender },
    gone.map((outpoint) => ({ outpoint, utxo: outpoint, ours: attempts })),
  );
  const byOutpoint = new Map(suspects.map((suspect) => [suspect.outpoint, suspect]));
  const begin = (first.finalHeightWhenSigned ?? 0) + 1;
  const from = first.searchedTo === null ? begin : first.searchedTo + 1;
  // Only what is so deep proves anything.
  const deepest = (await sender.height()) - Math.max(first.minConfirmations, PROOF_CONFIRMATIONS) + 1;
  const to = Math.min(deepest, from + BLOCKS_PER_ROUND - 1);
  const spenders = await sender.findSpenders([...byOutpoint.keys()], from, to);
  for (const by of spenders) {
    const suspect = byOutpoint.get(by.outpoint);
    if (suspect !== undefined && !suspect.ours.has(by.txHash)) return { utxo: suspect.utxo, by };
  }
  await noteSearched(db, first.id, to < deepest ? to : begin - 1);
  return undefined;
}

/** Follows UTXOs that are not in the chain to those they were made of. */
async function suspectsOf(
  { sender }: Pick<BitcoinPorts, 'sender'>,
  gone: readonly Suspect[],
): Promise<Suspect[]> {
  const all: Suspect[] = [];
  let next = gone;
  for (let step = 0; step < STEPS_MAX && next.length > 0; step++) {
    all.push(...next);
    const deeper: Suspect[] = [];
    for (const { outpoint, utxo } of next) {
      const [source = ''] = outpoint.split(':');
      if ((await sender.status(source)).state !== 'absent') continue;
      const inputs = (await sender.inputsOf(source)) ?? [];
      deeper.push(...inputs.map((input) => ({ outpoint: input, utxo, ours: new Set([source]) })));
    }
    next = deeper;
  }
  return all;
}
