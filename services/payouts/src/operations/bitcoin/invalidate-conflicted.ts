import type { Spender } from '@quittance/chains/bitcoin/broadcast';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import type { BitcoinPorts } from '../../ports.ts';
import { attemptsOf } from '../../store/replacement-groups.ts';
import { noteDoubt, noteSearched, type ReplacementGroup } from '../../store/transactions.ts';
import { freeUtxos } from '../../store/utxos.ts';
import { invalidateGroup } from '../transactions.ts';
import { readBitcoinTerms } from './terms.ts';

/**
 * Ends a group that no node knows, when it is proved that no attempt can ever be mined. The proof is another transaction
 * that spends a UTXO which all attempts spend, or an input of the transaction that made such a UTXO. It must have as many
 * confirmations as a payment needs, and at least six. A node's refusal or an eviction from the mempool proves nothing.
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
    const missing = shared.filter((_, i) => found[i] === undefined);
    if (missing.length === 0) {
      if (first.doubtedAt !== null) await noteDoubt(db, first.id, null);
      return false;
    }
    if (first.doubtedAt === null) {
      await noteDoubt(db, first.id, clock.now());
      const details = { transaction: first.txHash, outpoints: missing };
      logger.error(details, 'inputs of a transaction that is in no block are not in the chain');
      return false;
    }
    // A lagging node may not have it, or it may return with the next block.
    if (clock.now().getTime() - first.doubtedAt.getTime() < settings.gracePeriods.doubtForMs) return false;
    await renewLease(ports.db, lease);
    const conflict = await findConflict(ports, group, missing);
    if (conflict === undefined) {
      const details = { transaction: first.txHash, outpoints: missing };
      const message =
        'inputs of a transaction are missing and nothing proves that it can never be mined: it stays open';
      throttledLog.log('error', `lost.${first.id}`, details, message);
      return false;
    }
    const { utxo, by } = conflict;
    const { txHash, height, outpoint } = by;
    const proof = { transaction: first.txHash, utxo, by: txHash, height, spends: outpoint };
    logger.error(proof, 'another transaction has spent an input of one of ours for good');
    return await invalidateGroup(ports, lease, first, (trx) => freeUtxos(trx, first.group, utxo));
  } catch (error) {
    const details = { transaction: first.txHash, reason: reason(error) };
    const message = 'the spenders of a transaction’s inputs could not be found';
    throttledLog.log('warn', `conflict.${first.id}`, details, message);
    return false;
  }
}

/** How many blocks a round searches. */
const BLOCKS_PER_ROUND = 256;
/** The least depth of a proof, so that no reorganisation can undo it, even when an asset needs fewer confirmations. */
const PROOF_CONFIRMATIONS = 6;
/** How many transactions back the search goes. It is rarely more than one. */
const STEPS_MAX = 8;

/** The UTXO that can never be spent by the group, and the transaction that proves it. */
type Conflict = { utxo: string; by: Spender };

/** When another transaction than `ours` spends `outpoint`, the group can never spend `utxo`. */
type Suspect = { outpoint: string; utxo: string; ours: ReadonlySet<string> };

/**
 * Searches the blocks since a group was signed for a transaction that conflicts with all its attempts. When a UTXO is not
 * in the chain because the transaction that made it was dropped, the inputs of that transaction are searched for as well,
 * as far as the node knows them. The progress is stored, so that a long search continues in the next rounds. A search
 * that found nothing starts again.
 */
async function findConflict(
  ports: BitcoinPorts,
  [first]: ReplacementGroup,
  missing: readonly string[],
): Promise<Conflict | undefined> {
  const { db, sender } = ports;
  const ours = new Set((await attemptsOf(db, first.group)).map(({ txHash }) => txHash));
  const suspects = await suspectsOf(
    ports,
    missing.map((outpoint) => ({ outpoint, utxo: outpoint, ours })),
  );
  const byOutpoint = new Map(suspects.map((suspect) => [suspect.outpoint, suspect]));
  const begin = (first.finalHeightWhenSigned ?? 0) + 1;
  const from = first.searchedTo === null ? begin : first.searchedTo + 1;
  // Higher blocks prove nothing yet.
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

/** Adds the inputs of the transactions that made the missing UTXOs. */
async function suspectsOf({ sender }: BitcoinPorts, missing: readonly Suspect[]): Promise<Suspect[]> {
  const all: Suspect[] = [];
  let next = missing;
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
