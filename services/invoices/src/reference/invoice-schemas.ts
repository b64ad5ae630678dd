import {
  asset,
  assetSymbol,
  count,
  currency,
  dataOf,
  decimal,
  fiatAmount,
  id,
  metadata,
  oneOf,
  pageOf,
  payoutId,
  rates,
  reducedAsset,
  saidOf,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { refundStatuses, unresolvedReasons } from '@quittance/shared/events';
import { viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import { statuses } from '../domain/invoice.ts';
import type { unchosenListItemView, unchosenView } from '../unchosen-views.ts';
import type { invoiceView, listItemView, unresolvedView } from '../views.ts';

export const invoiceId = id('inv', 'The id of the invoice.');
const linkId = id('plink', 'The payment link that created the invoice. Absent of other invoices.');

const shared = {
  id: invoiceId,
  external_id: text('Your own reference, or null.').nullable(),
  amount_fiat: fiatAmount('The price in `currency`.'),
  usd_rate: decimal(
    'US dollars for one whole asset, locked. Null until the payer has chosen the asset.',
  ).nullable(),
  status: oneOf(statuses, 'Ship when it is `paid`, not before.'),
  expires_at: time('When it expires; null: never.').nullable(),
  paid_at: time('When it was paid, or null.').nullable(),
  created_at: time('When it was created.'),
  amount: decimal('The amount due, in the asset. Null until the payer has chosen the asset.').nullable(),
  asset: asset.nullable().describe('The asset. Null until the payer has chosen it.'),
};

export const listedInvoice = viewed<
  ReturnType<typeof listItemView> | ReturnType<typeof unchosenListItemView>
>()(
  z
    .strictObject({
      ...shared,
      currency: currency.optional().describe('Only of an invoice in another currency than US dollars.'),
      payment_link_id: linkId.optional(),
    })
    .meta({ id: 'InvoiceListItem', description: 'An invoice in a list.' }),
);

const payment = z
  .strictObject({
    tx_hash: text('The hash of its transaction; null where it has none.').nullable(),
    output_index: count('Which output of the transaction pays, on Bitcoin; else null.').nullable(),
    amount: decimal('What was paid, in the asset of the payment.'),
    asset: assetSymbol.optional().describe('Only of a payment in another asset than that of the invoice.'),
    status: oneOf(['pending', 'confirmed', 'reversed'], '`confirmed`: it is final.'),
    confirmations: count('How many blocks confirm it.'),
    required_confirmations: count('How many it needs.'),
    block_height: count('The block that contains it, or null.').nullable(),
    first_seen_at: time('When it was seen first.'),
    confirmed_at: time('When it became final, or null.').nullable(),
    explorer_url: text('Its page in a block explorer, or null.').nullable(),
  })
  .meta({ id: 'Payment', description: 'A transaction that pays an invoice.' });

const refund = z
  .strictObject({
    id: id('ref', 'The id of the refund.'),
    amount: decimal('What it pays, in the asset.'),
    status: oneOf(refundStatuses, 'The status of the refund.'),
    payout_id: payoutId('The payout that pays it, or null.').nullable(),
    created_at: time('When it was created.'),
  })
  .meta({ id: 'RefundOfInvoice', description: 'A refund in its invoice.' });

const full = z
  .strictObject({
    ...shared,
    currency: currency.describe('The currency of `amount_fiat`.'),
    rate: rates.nullable().describe('The locked rates. Null until the payer has chosen the asset.'),
    pending_amount: decimal('Seen and not final, in the asset.'),
    paid_amount: decimal('Final, in the asset.'),
    reversed_amount: decimal('Was credited, and the network took it back.'),
    amount_remaining: decimal(
      'What is still to be paid. Null until the payer has chosen the asset.',
    ).nullable(),
    refunded_amount: decimal('What refunds take of `paid_amount`.'),
    cancelled_at: time('When you cancelled it, or null.').nullable(),
    description: text('What the payment page shows, or null.').nullable(),
    metadata,
    payment_link_id: linkId.optional(),
    url: text('The payment page: send your customer there.'),
    assets: z
      .array(assetSymbol)
      .optional()
      .describe('What the payer may choose from. Only until the payer has chosen.'),
    address: z
      .strictObject({
        address: text('The address to pay to.'),
        uri: text('For wallets: asks for `amount_remaining`.'),
      })
      .nullable()
      .describe('Where to pay to. Null until the payer has chosen the asset.'),
    payments: z.array(payment).describe('Its payments, in the order in which they were seen.'),
    payments_total: count('How many payments there are, when more than are listed.').optional(),
    refunds: z.array(refund).describe('Its newest 100 refunds.'),
  })
  .meta({ id: 'Invoice', description: 'A request for a payment.' });

export const invoice = viewed<ReturnType<typeof invoiceView> | ReturnType<typeof unchosenView>>()(full);

const unresolvedPayment = viewed<ReturnType<typeof unresolvedView>>()(
  z.strictObject({
    id: id('dep', 'The id of the unresolved funds.'),
    reason: oneOf(unresolvedReasons, 'Why they are in no balance.').optional(),
    amount: decimal('How much was received, in its asset.'),
    asset: reducedAsset,
    tx_hash: text('The hash of the transaction, or null.').nullable(),
  }),
);

/** What the event `invoice.unresolved_payment` has. */
export const invoiceWithUnresolved = z
  .strictObject({ ...full.shape, unresolved: unresolvedPayment.describe('The funds in no balance.') })
  .meta({ id: 'InvoiceWithUnresolvedPayment', description: 'An invoice, and funds that are in no balance.' });

export const invoicePage = pageOf('InvoicePage', z.union([listedInvoice, invoice]));
export const invoiceSaid = saidOf(invoice);
export const invoiceData = dataOf(invoice);
