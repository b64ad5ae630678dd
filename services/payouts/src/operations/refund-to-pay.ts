import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId, PayoutId, RefundId } from '@quittance/shared/ids';
import { tellRefunds } from '../store/refund-events.ts';
import type { StoredRefund } from '../store/refund-rows.ts';
import { findRefund, noteFunded } from '../store/refunds.ts';
import { type Reservation, reserveRequested } from '../store/reservations.ts';

/** The refund that a requested payout pays. */
export type RefundToPay = {
  id: RefundId;
  invoiceId: InvoiceId | null;
  /** Assigns the payout to the refund, in the transaction that stores the payout. Undefined: another one pays the refund. */
  take: (trx: Trx, payoutId: PayoutId) => Promise<StoredRefund | undefined>;
  /** The body of the 201 that the idempotency key keeps. */
  answer?: () => object;
};

/** Thrown, so that nothing is stored and the idempotency key is free again. */
export class RefundNotTaken extends Error {
  override name = 'RefundNotTaken';
}

/** Throws RefundNotTaken when another payout pays the refund. */
export async function takeRefund(trx: Trx, refund: RefundToPay, payoutId: PayoutId): Promise<void> {
  if ((await refund.take(trx, payoutId)) === undefined) throw new RefundNotTaken();
}

/** Marks the payout of a refund as reserved. From this moment the invoice shows the refund as pending. */
export async function reserveForRefund(
  trx: Trx,
  reservation: Reservation,
  refundId: RefundId,
  now: Date,
): Promise<boolean> {
  const { isMoved: isMine } = await reserveRequested(trx, reservation, now);
  const refund = isMine ? await findRefund(trx, refundId) : undefined;
  if (isMine) await noteFunded(trx, refundId);
  if (refund !== undefined) {
    await tellRefunds(trx, [refund], reservation.requestId);
    failpoint('payouts.refund_reserved');
  }
  return isMine;
}
