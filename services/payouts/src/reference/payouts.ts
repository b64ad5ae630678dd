import { pageOf, saidOf } from '@quittance/shared/answer-schemas';
import {
  documented,
  errorsOfResource,
  idempotencyKey,
  noFields,
  type Operation,
  pagedQuery,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { payoutFilters } from '../http/payouts.ts';
import { fields, optionalAddress, readMax, readNotes } from '../payout-order.ts';
import { attempt, haltedAsset, payout, payoutIdSchema, quote } from './payout-schemas.ts';

export const noteTexts = {
  external_id: 'Your own reference.',
  metadata: 'An object of your own texts. At most 8 kB.',
};
const orderTexts = {
  asset: 'The symbol of an active asset.',
  address: 'The recipient. A payout cannot be undone.',
};

/** A payout as a request and a line of a batch give it. */
export const lineFields = documented(
  {
    ...fields.asset.schema.shape,
    ...fields.amount.schema.shape,
    ...fields.address.schema.shape,
    ...readNotes.schema.shape,
  },
  { ...orderTexts, amount: 'What the recipient gets, in the asset.', ...noteTexts },
);

const amountOrMax = {
  amount: z.union([fields.amount.schema.shape.amount, readMax.schema.shape.amount]),
};
const order = documented(
  {
    ...fields.asset.schema.shape,
    ...amountOrMax,
    ...fields.address.schema.shape,
    ...readNotes.schema.shape,
  },
  {
    ...orderTexts,
    amount: 'What the recipient gets, in the asset; `max`: all of the balance after the network fee.',
    ...noteTexts,
  },
);

const filters = pagedQuery(payoutFilters.schema.shape, {
  status: 'Only those with this status.',
  approval: '`waiting`: only those that wait for an approval.',
  asset: 'Only those in this asset.',
  created_from: 'Created at this moment or later.',
  created_to: 'Created at this moment or earlier.',
  external_id: 'Only those with this reference of yours.',
  deposit_id: 'Only those that pay back these unresolved funds.',
  refund_id: 'Only those that pay this refund.',
  invoice_id: 'Only those that refund this invoice.',
  tx_hash: 'Only that with this transaction.',
  batch_id: 'Only those of this batch.',
  to_address: 'Only those to this recipient.',
  format: '`csv` answers a file of all that the filters match.',
});

const params = z.strictObject({ id: payoutIdSchema });
const payoutSaid = saidOf(payout);

export const created = saidOf(z.strictObject({ id: payoutIdSchema }).describe('The payout.')).meta({
  id: 'CreatedPayout',
  description: 'The id of a new payout.',
});

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/payouts',
    operationId: 'listPayouts',
    tag: 'Payouts',
    summary: 'List payouts',
    description: 'Newest first.',
    query: filters,
    answers: {
      200: {
        description: 'A page of payouts.',
        json: pageOf('PayoutPage', payout),
        others: { 'text/csv': 'All payouts that the filters match, one row each.' },
      },
    },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/payouts',
    operationId: 'createPayout',
    tag: 'Payouts',
    summary: 'Create a payout',
    description: 'Holds amount and network fee, and sends the amount. Read the payout by its id.',
    headers: idempotencyKey,
    body: { fields: order, required: true },
    answers: {
      201: { description: 'The id of the payout.', json: created, headers: ['Idempotent-Replayed'] },
    },
    errors: ['insufficient_balance', 'request_in_progress'],
  },
  {
    method: 'get',
    path: '/api/payouts/quote',
    operationId: 'quotePayout',
    tag: 'Payouts',
    summary: 'Read what a payout would cost now',
    description: 'Nothing is held.',
    query: documented(
      { ...fields.asset.schema.shape, ...amountOrMax, ...optionalAddress.schema.shape },
      { ...orderTexts, amount: 'As for a payout.', address: 'The recipient, to be checked.' },
    ),
    answers: { 200: { description: 'The quote, as the body itself.', json: quote } },
    errors: ['insufficient_balance'],
  },
  {
    method: 'get',
    path: '/api/payouts/{id}',
    operationId: 'getPayout',
    tag: 'Payouts',
    summary: 'Read a payout',
    params,
    answers: { 200: { description: 'The payout, as the body itself.', json: payout } },
    errors: errorsOfResource,
  },
  {
    method: 'get',
    path: '/api/payouts/{id}/attempts',
    operationId: 'listPayoutAttempts',
    tag: 'Payouts',
    summary: 'List the transactions of a payout',
    description:
      'The newest last, at most 100. At most one is ever mined. A payout that is not signed yet has none.',
    params,
    answers: {
      200: {
        description: 'Its transactions.',
        json: z.strictObject({ data: z.array(attempt).describe('The transactions.') }),
      },
    },
    errors: errorsOfResource,
  },
  {
    method: 'get',
    path: '/api/halted-assets',
    operationId: 'listHaltedAssets',
    tag: 'Payouts',
    summary: 'List the assets of which nothing is paid out',
    description:
      'The operator, or the service itself, has halted them for all accounts. New payouts are refused, and those that are not signed wait. Payments are taken and credited as always.',
    answers: {
      200: {
        description: 'The halted assets: usually none.',
        json: z.strictObject({
          data: z.array(haltedAsset).describe('The assets, the longest halted first.'),
        }),
      },
    },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/payouts/{id}/cancel',
    operationId: 'cancelPayout',
    tag: 'Payouts',
    summary: 'Cancel a payout',
    description: 'Cancels a payout that is not signed. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: {
      200: {
        description: 'It is cancelled: amount and fee return.',
        json: z.strictObject({
          ...payoutSaid.shape,
          hint: z.string().optional().describe('When this has disabled an automatic payout.'),
        }),
      },
      202: { description: 'It is not decided yet: repeat the request.', json: payoutSaid },
    },
    errors: [...errorsOfResource, 'not_cancelable'],
  },
  {
    method: 'post',
    path: '/api/payouts/{id}/approve',
    operationId: 'approvePayout',
    tag: 'Payouts',
    summary: 'Approve a payout',
    description:
      'Another token than the one that has requested it. With the last approval it is sent. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: { 200: { description: 'The payout.', json: payoutSaid } },
    errors: [...errorsOfResource, 'conflict'],
  },
  {
    method: 'post',
    path: '/api/payouts/{id}/reject',
    operationId: 'rejectPayout',
    tag: 'Payouts',
    summary: 'Reject a payout',
    description:
      'It fails within seconds, and amount and fee return. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: { 200: { description: 'The payout.', json: payoutSaid } },
    errors: [...errorsOfResource, 'conflict'],
  },
];
