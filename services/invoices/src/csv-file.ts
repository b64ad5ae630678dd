import { assets } from '@quittance/shared/assets';
import { csvTable, number } from '@quittance/shared/csv';
import { formatFiat, formatRate, formatUnits, type Units, units, unitsToUsd } from '@quittance/shared/money';
import type { Invoice } from './domain/invoice.ts';
import type { ExportedInvoice } from './store/invoice-reads.ts';
import { toInvoice } from './store/invoices.ts';

const inAsset = ({ asset }: Invoice, amount: Units) => number(formatUnits(amount, assets[asset].decimals));
/** What is final of an invoice that is not paid waits, or is unresolved: it is in no balance. */
const creditedOf = ({ status, paidAmount }: Invoice): Units => (status === 'paid' ? paidAmount : units(0n));
const time = (at: Date | null): string | null => at?.toISOString() ?? null;

type Exported = Invoice & Pick<ExportedInvoice, 'refundedAmount'>;

/** The invoices of an account, one row each. `docs/api.md` describes the columns. */
export const invoicesTable = csvTable<ExportedInvoice, Exported>(
  (row) => ({ ...toInvoice(row), refundedAmount: row.refundedAmount }),
  {
    id: ({ id }) => id,
    external_id: ({ externalId }) => externalId,
    created_at: ({ createdAt }) => time(createdAt),
    status: ({ status }) => status,
    paid_at: ({ paidAt }) => time(paidAt),
    expires_at: ({ expiresAt }) => time(expiresAt),
    cancelled_at: ({ cancelledAt }) => time(cancelledAt),
    currency: ({ currency }) => currency,
    amount_fiat: ({ amountFiat }) => number(formatFiat(amountFiat)),
    currency_usd_rate: ({ fiatRate }) => number(fiatRate?.usd_rate ?? '1'),
    asset: ({ asset }) => asset,
    usd_rate: ({ usdRate }) => number(formatRate(usdRate)),
    amount: (invoice) => inAsset(invoice, invoice.amountDue),
    paid_amount: (invoice) => inAsset(invoice, invoice.paidAmount),
    pending_amount: (invoice) => inAsset(invoice, invoice.pendingAmount),
    reversed_amount: (invoice) => inAsset(invoice, invoice.reversedAmount),
    credited_amount: (invoice) => inAsset(invoice, creditedOf(invoice)),
    // At the rate of the invoice, which is the one that its customer was given.
    credited_usd: (invoice) => {
      const { usdRate, asset } = invoice;
      return number(formatFiat(unitsToUsd(creditedOf(invoice), usdRate, assets[asset].decimals, 'down')));
    },
    refunded_amount: (invoice) => inAsset(invoice, invoice.refundedAmount),
    payment_link_id: ({ paymentLinkId }) => paymentLinkId,
    description: ({ description }) => description,
    metadata: ({ metadata }) => JSON.stringify(metadata),
  },
);
