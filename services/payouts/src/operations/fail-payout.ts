import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { PayoutId } from '@quittance/shared/ids';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { appendToOutbox } from '@quittance/shared/outbox';
import type { PayoutStatus } from '../domain/states.ts';
import type { Ports } from '../ports.ts';
import { movePayout, type Payout } from '../store/payouts.ts';
import { eventView, outcomeView } from '../views.ts';

const RECIPIENT_REFUSES =
  'The recipient address does not accept this payment. The amount and the network fee were returned to your balance.';

/** `feeKept`: a transaction was mined, so that the network fee was spent. */
type Failure = { failedReason: string; feeKept: boolean; txHash?: string };

/** Fails a payout and releases its hold. False when it is in none of the states `from`. */
export async function failPayout(
  trx: Trx,
  id: PayoutId,
  from: readonly PayoutStatus[],
  { feeKept, ...why }: Failure,
): Promise<boolean> {
  const failed = await movePayout(trx, id, from, 'failed', why);
  if (failed === undefined) return false;
  await appendToOutbox(trx, [
    { kind: 'hold.release', payload: { ...outcomeView(failed), fee_kept: feeKept } },
    { kind: 'payout.failed', payload: eventView(failed) },
  ]);
  return true;
}

/** Fails a payout that its recipient would refuse. Nothing was signed for it, so all of its money goes back. */
export async function failUnsigned(
  { db, logger, wakeRelay }: Pick<Ports, 'db' | 'logger' | 'wakeRelay'>,
  lease: Lease,
  { id }: Payout,
): Promise<void> {
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const failure = { failedReason: RECIPIENT_REFUSES, feeKept: false };
    if (await failPayout(trx, id, ['reserved'], failure)) failpoint('payouts.failing');
  });
  failpoint('payouts.failed');
  wakeRelay();
  logger.info({ payout: id }, 'a payout failed, its recipient would refuse it');
}
