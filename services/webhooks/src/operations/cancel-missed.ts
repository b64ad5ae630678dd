import type { Trx } from '@quittance/shared/db';
import type { Ports } from '../ports.ts';
import { cancelWaiting, lockCancellingEndpoint } from '../store-endpoints.ts';

/** So few that whoever waits for the endpoint meanwhile waits for milliseconds. */
export const CANCELLED_AT_ONCE = 1_000;

/**
 * Cancels some of what waits for this endpoint, or for any that was disabled or deleted; answers how many,
 * undefined when there is no such endpoint. Their log has shown them as cancelled since their endpoint was.
 */
export async function cancelMissed(trx: Trx, key?: string): Promise<number | undefined> {
  const locked = await lockCancellingEndpoint(trx, key);
  return locked === undefined ? undefined : await cancelWaiting(trx, locked, CANCELLED_AT_ONCE);
}

/** Answers for how many endpoints it did something: none or one. */
export const cancelMissedOfAny = ({ db }: Pick<Ports, 'db'>): Promise<number> =>
  db.transaction(async (trx) => ((await cancelMissed(trx)) === undefined ? 0 : 1));
