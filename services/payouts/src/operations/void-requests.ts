import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { forgetKey } from '@quittance/shared/idempotency';
import type { PayoutId } from '@quittance/shared/ids';
import { appendToOutbox } from '@quittance/shared/outbox';
import type { Ports } from '../ports.ts';
import { movePayout, staleRequests } from '../store/payouts.ts';

/** Longer than any request waits for the ledger, so its process has died. */
const STALE_AFTER_MS = 6_000;

/**
 * Voids requests whose process died before the ledger's decision was stored.
 * @returns how many.
 */
export async function voidStaleRequests(
  { db, logger, wakeRelay }: Pick<Ports, 'db' | 'logger' | 'wakeRelay'>,
  olderThanMs = STALE_AFTER_MS,
): Promise<number> {
  const voided = await db.transaction(async (trx) => {
    const ids = await staleRequests(trx, olderThanMs);
    for (const id of ids) await voidRequest(trx, id, null);
    if (ids.length > 0) failpoint('payouts.voiding_requests');
    return ids;
  });
  if (voided.length > 0) failpoint('payouts.requests_voided');
  if (voided.length > 0) {
    logger.warn({ payouts: voided }, 'voided requests that were never decided');
    wakeRelay();
  }
  return voided.length;
}

/**
 * Voids a request that the ledger has not answered: it can never be paid, and the ledger releases its hold, or refuses
 * the hold when the command arrives late. Its idempotency key can be used again. False when the request was decided.
 */
export async function voidRequest(trx: Trx, id: PayoutId, requestId: string | null): Promise<boolean> {
  const voided = await movePayout(trx, id, ['requested'], 'voided');
  if (voided === undefined) return false;
  await forgetKey(trx, id);
  const { account, asset } = voided;
  await appendToOutbox(
    trx,
    [{ kind: 'hold.void', payload: { payout_id: id, account_id: account, asset } }],
    requestId,
  );
  return true;
}
