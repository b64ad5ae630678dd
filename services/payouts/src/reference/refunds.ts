import {
  currency,
  dataOf,
  decimal,
  fiatAmount,
  id,
  message,
  metadata,
  oneOf,
  pageOf,
  payoutId,
  rates,
  reducedAsset,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { refundStatuses } from '@quittance/shared/events';
import {
  documented,
  errorsOfResource,
  idempotencyKey,
  noFields,
  type Operation,
  pagedQuery,
  viewed,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { refundFilters } from '../http/refunds.ts';
import { optionalAddress } from '../payout-order.ts';
import { readAmount, readClaim, readDepositRest, readRest, readWord } from '../refund-order.ts';
import type { refundView } from '../refund-views.ts';
import { readAmount as readPart } from '../returned-part.ts';
import { created, noteTexts } from './payouts.ts';

const refundId = id('ref', 'The id of the refund.');

type ShownRefund = ReturnType<typeof refundView>;
/** One that is `voided` is not shown. */
type Shown = Omit<ShownRefund, 'status'> & { status: Exclude<ShownRefund['status'], 'voided'> };

export const refund = viewed<Shown>()(
  z
    .strictObject({
      id: refundId,
      status: oneOf(refundStatuses, '`claimable`: the claim link waits for an address.'),
      invoice_id: id('inv', 'The invoice that it refunds, or null.').nullable(),
      deposit_id: id('dep', 'The unresolved funds that it pays back, or null.').nullable(),
      requested: text('The amount as you gave it; `deposit`: all that was left of the funds.'),
      currency: currency.nullable().describe('The currency of the invoice, or null.'),
      amount_fiat: fiatAmount('What it is worth in that currency, or null.').nullable(),
      rate: oneOf(['then', 'now'], 'At which rate: the locked one of the invoice, or that of its creation.'),
      rates_now: rates.nullable().describe('At the rate `now`: the rates. Null at the rate `then`.'),
      amount: decimal('What it pays, in the asset.'),
      share: decimal('What it takes of what was paid for the invoice, in the asset.'),
      asset: reducedAsset,
      payout_id: payoutId('The payout that pays it, or null.').nullable(),
      external_id: text('Your own reference, or null.').nullable(),
      metadata,
      expires_at: time('When its claim link ends; null without one.').nullable(),
      unfunded_since: time('Since when the balance does not cover it, or null.').nullable(),
      created_at: time('When it was created.'),
    })
    .meta({ id: 'Refund', description: 'What is paid back for an invoice, or of unresolved funds.' }),
);

const createdRefund = z
  .strictObject({
    message,
    data: z
      .strictObject({
        ...refund.shape,
        claim_url: text(
          'The claim link, shown only here; null when there is none, or it is not known any more.',
        ).nullable(),
      })
      .describe('The refund, with its claim link.'),
  })
  .meta({ id: 'CreatedRefund', description: 'A new refund.' });

const linkTexts = {
  expires_in_days: 'How many days the claim link is valid. Default: 30.',
  ...noteTexts,
};

const refundOrder = documented(
  {
    amount: z.union([readAmount.schema.shape.amount, readWord.schema.shape.amount]),
    ...readRest.schema.shape,
  },
  {
    amount: 'In the currency of the invoice; `all` that is left, or the `surplus` over what was due.',
    rate: '`then`: the rate that the invoice locked. `now`: the current rates.',
    address: 'The recipient. Without it you get a claim link.',
    ...linkTexts,
    expires_in_days: 'How many days the claim link is valid. Default: 30. Not together with `address`.',
  },
);

const returnOrder = documented(
  {
    ...optionalAddress.schema.shape,
    ...readClaim.schema.shape,
    ...readPart.schema.shape,
    expires_in_days: readDepositRest.schema.shape.expires_in_days,
    external_id: readDepositRest.schema.shape.external_id,
    metadata: readDepositRest.schema.shape.metadata,
  },
  {
    address: 'The recipient. Give this, or `claim`.',
    claim: 'True: a claim link, on which your customer gives the address.',
    amount: 'What the return takes of the funds, in their asset. Default: all that is left.',
    ...linkTexts,
  },
);

const filters = pagedQuery(refundFilters.schema.shape, {
  status: 'Only those with this status.',
  asset: 'Only those in this asset.',
  invoice_id: 'Only those of this invoice.',
  deposit_id: 'Only those of these unresolved funds.',
  external_id: 'Only those with this reference of yours.',
  created_from: 'Created at this moment or later.',
  created_to: 'Created at this moment or earlier.',
});

const params = z.strictObject({ id: refundId });

export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/invoices/{id}/refunds',
    operationId: 'refundInvoice',
    tag: 'Refunds',
    summary: 'Refund an invoice',
    description: 'Pays to an address, or makes a claim link on which your customer gives the address.',
    params: z.strictObject({ id: id('inv', 'The id of the invoice.') }),
    headers: idempotencyKey,
    body: { fields: refundOrder, required: true },
    answers: {
      201: { description: 'The refund.', json: createdRefund, headers: ['Idempotent-Replayed'] },
    },
    errors: [
      ...errorsOfResource,
      'insufficient_balance',
      'nothing_to_refund',
      'refund_too_large',
      'request_in_progress',
      'conflict',
    ],
  },
  {
    method: 'get',
    path: '/api/refunds',
    operationId: 'listRefunds',
    tag: 'Refunds',
    summary: 'List refunds',
    description: 'Newest first.',
    query: filters,
    answers: { 200: { description: 'A page of refunds.', json: pageOf('RefundPage', refund) } },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/refunds/{id}',
    operationId: 'getRefund',
    tag: 'Refunds',
    summary: 'Read a refund',
    params,
    answers: { 200: { description: 'The refund, as the body itself.', json: refund } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/refunds/{id}/cancel',
    operationId: 'cancelRefund',
    tag: 'Refunds',
    summary: 'Cancel a claim link',
    description: 'Cancels a link that nobody has used. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: { 200: { description: 'The refund.', json: dataOf(refund) } },
    errors: [...errorsOfResource, 'not_cancelable', 'conflict'],
  },
  {
    method: 'post',
    path: '/api/unresolved/{id}/return',
    operationId: 'returnUnresolved',
    tag: 'Unresolved funds',
    summary: 'Return unresolved funds',
    description: 'Pays the funds, or a part of them, to an address, or makes a claim link.',
    params: z.strictObject({ id: id('dep', 'The id of the unresolved funds.') }),
    headers: idempotencyKey,
    body: { fields: returnOrder, required: true },
    answers: {
      201: {
        description: 'The id of the payout, or a refund with its claim link.',
        json: z.union([created, createdRefund]),
        headers: ['Idempotent-Replayed'],
      },
    },
    errors: [
      ...errorsOfResource,
      'insufficient_balance',
      'refund_too_large',
      'already_resolved',
      'request_in_progress',
      'conflict',
    ],
  },
];
