import type { Trx } from '@quittance/shared/db';
import type { Ports } from '../ports.ts';
import { cancelWaiting, lockEndpointToCancel, pruneDeliveriesOfDeleted } from '../store/pruning.ts';

/** Small, so that others wait for the endpoint's lock for milliseconds only. */
export const CANCEL_BATCH = 1_000;

/**
 * Cancels a batch of the deliveries that wait for this endpoint, or for any disabled or deleted one. The log shows them as
 * cancelled since their endpoint was disabled. Of a deleted endpoint, deliveries that were never tried are removed: a replay
 * can queue tens of thousands, and they explain nothing.
 * @returns how many, undefined when no endpoint has deliveries to cancel
 */
export async function cancelWaitingOf(trx: Trx, key?: string): Promise<number | undefined> {
  const locked = await lockEndpointToCancel(trx, key);
  if (locked === undefined) return undefined;
  if (locked.isDeleted) {
    const ended = await pruneDeliveriesOfDeleted(trx, locked.key, CANCEL_BATCH);
    if (ended === CANCEL_BATCH) return ended;
  }
  return await cancelWaiting(trx, locked.key, CANCEL_BATCH);
}

/** @returns for how many endpoints it cancelled deliveries: 0 or 1 */
export const cancelNextWaiting = ({ db }: Pick<Ports, 'db'>): Promise<number> =>
  db.transaction(async (trx) => ((await cancelWaitingOf(trx)) === undefined ? 0 : 1));
