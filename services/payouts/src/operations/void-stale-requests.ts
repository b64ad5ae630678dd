import { crashPoint } from '@quittance/shared/crash';
import type { Ports } from '../ports.ts';
import { staleRequests } from '../store-payouts.ts';
import { voidRequest } from './void-request.ts';

/** Longer than any request waits for the ledger: whoever made it has died in between. */
const STALE_AFTER_MS = 6_000;

/**
 * Gives up requests that were never decided because the process that made them died.
 * @returns how many.
 */
export async function voidStaleRequests(
  { db, logger, announced }: Pick<Ports, 'db' | 'logger' | 'announced'>,
  olderThanMs = STALE_AFTER_MS,
): Promise<number> {
  const voided = await db.transaction(async (trx) => {
    const ids = await staleRequests(trx, olderThanMs);
    for (const id of ids) await voidRequest(trx, id, null);
    if (ids.length > 0) crashPoint('payouts.sweeping_requests');
    return ids;
  });
  if (voided.length > 0) crashPoint('payouts.requests_swept');
  if (voided.length > 0) {
    logger.warn({ payouts: voided }, 'gave up requests that were never decided');
    announced();
  }
  return voided.length;
}
