import { formatFiat } from '@quittance/shared/money';
import type { UnchosenInvoice } from './domain/unchosen-invoice.ts';
import type { FoundInvoice } from './store/invoice-reads.ts';
import { invoiceView, iso, linkView, listOnlyView, pageUrl, type ViewPorts } from './views.ts';

/** An invoice before the choice in a list: the fields of an invoice, and nothing that the choice decides. */
export const unchosenListItemView = (invoice: UnchosenInvoice) => ({
  ...sharedView(invoice),
  ...listOnlyView(invoice),
});

const sharedView = (invoice: UnchosenInvoice) => ({
  id: invoice.id,
  external_id: invoice.externalId,
  amount_fiat: formatFiat(invoice.amountFiat),
  usd_rate: null,
  status: invoice.status,
  expires_at: iso(invoice.expiresAt),
  paid_at: null,
  created_at: invoice.createdAt.toISOString(),
  amount: null,
  asset: null,
});

/** An invoice before the choice in full. */
export function unchosenView(invoice: UnchosenInvoice, shown: Pick<ViewPorts, 'settings'>) {
  const { asset, ...fields } = sharedView(invoice);
  return {
    ...fields,
    currency: invoice.currency,
    rate: null,
    pending_amount: '0',
    paid_amount: '0',
    reversed_amount: '0',
    amount_remaining: null,
    refunded_amount: '0',
    cancelled_at: iso(invoice.cancelledAt),
    description: invoice.description,
    metadata: invoice.metadata,
    ...linkView(invoice),
    url: pageUrl(invoice, shown),
    assets: invoice.assets,
    asset,
    address: null,
    payments: [],
    refunds: [],
  };
}

/** An invoice in full, before or after the choice. */
export const foundView = (found: FoundInvoice, shown: ViewPorts) =>
  'invoice' in found ? invoiceView(found, shown) : unchosenView(found, shown);

/** What an event about an invoice before the choice says. */
export const payloadOf = (invoice: UnchosenInvoice, shown: Pick<ViewPorts, 'settings'>) => ({
  account_id: invoice.account,
  resource_id: invoice.id,
  version: invoice.version,
  data: unchosenView(invoice, shown),
});
