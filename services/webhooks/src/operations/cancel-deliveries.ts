import type { Trx } from '@quittance/shared/db';
import type { Ports } from '../ports.ts';
import { cancelWaiting, lockEndpointToCancel, pruneDeliveriesOfDeleted } from '../store/endpoints.ts';

/** So few that whoever waits for the endpoint meanwhile waits for milliseconds. */
export const CANCEL_BATCH = 1_000;

/**
 * Cancels some of what waits for this endpoint, or for any that was disabled or deleted; answers how many,
 * undefined when there is no such endpoint. Their log has shown them as cancelled since their endpoint was. What was
 * never tried goes with a deleted endpoint: a replay can queue it by the ten thousand, and it explains nothing.
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

/** Answers for how many endpoints it did something: none or one. */
export const cancelNextWaiting = ({ db }: Pick<Ports, 'db'>): Promise<number> =>
  db.transaction(async (trx) => ((await cancelWaitingOf(trx)) === undefined ? 0 : 1));
