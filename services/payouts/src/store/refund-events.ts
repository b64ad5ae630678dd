import type { Trx } from '@quittance/shared/db';
import type { NewEvent } from '@quittance/shared/events';
import { appendToOutbox } from '@quittance/shared/outbox';
import { refundEventView } from '../refund-views.ts';
import type { StoredRefund } from './refund-rows.ts';

/**
 * Tells invoices about refunds of its invoices, and the merchant when a claim link has ended without a payment. One that never
 * came to exist is not told of.
 */
export async function tellRefunds(
  trx: Trx,
  refunds: readonly StoredRefund[],
  requestId: string | null = null,
): Promise<void> {
  const events = refunds.flatMap((refund): NewEvent[] => {
    const ended = { kind: 'refund.expired', payload: refundEventView(refund) } as const;
    return [...toldToInvoices(refund), ...(refund.state === 'expired' ? [ended] : [])];
  });
  await appendToOutbox(trx, events, requestId);
}

function toldToInvoices(refund: StoredRefund): NewEvent[] {
  const { invoiceId, state } = refund;
  if (invoiceId === null || state === 'voided') return [];
  return [
    {
      kind: 'refund.updated',
      payload: {
        refund_id: refund.id,
        invoice_id: invoiceId,
        account_id: refund.account,
        version: refund.version,
        status: state,
        asset: refund.asset,
        amount: refund.amount.toString(),
        share: refund.share.toString(),
        payout_id: refund.payoutId,
        created_at: refund.createdAt.toISOString(),
      },
    },
  ];
}

/** Tells the merchant that a claim has met too low a balance. */
export const tellUnfunded = (trx: Trx, refund: StoredRefund, requestId: string): Promise<void> =>
  appendToOutbox(trx, [{ kind: 'refund.unfunded', payload: refundEventView(refund) }], requestId);
