import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import type { InvoiceId } from '@quittance/shared/ids';
import { formatRate } from '@quittance/shared/money';
import type { Ports } from '../ports.ts';

/** Tells payouts what a refund of an invoice depends on. */
export async function describeInvoice(
  { findInvoice }: Pick<Ports, 'findInvoice'>,
  { invoice_id }: RequestOf<'invoice.describe'>,
): Promise<ReplyOf<'invoice.describe'>> {
  const found = await findInvoice(invoice_id as InvoiceId);
  if (found === undefined) return { invoice: null };
  const { account, asset, status, amountDue, paidAmount, usdRate, currency, fiatRate } = found.invoice;
  return {
    invoice: {
      account_id: account,
      asset,
      status,
      amount_due: amountDue.toString(),
      paid_amount: paidAmount.toString(),
      usd_rate: formatRate(usdRate),
      currency,
      ...(fiatRate && { fiat_rate: fiatRate.usd_rate }),
    },
  };
}
