import {
  assetSymbol,
  count,
  currency,
  dataOf,
  fiatAmount,
  id,
  metadata,
  oneOf,
  pageOf,
  saidOf,
  text,
  time,
} from '@quittance/shared/answer-schemas';
import { pageForm } from '@quittance/shared/pages';
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
import { linkStatuses, MAX_OPEN_MAX } from '../domain/payment-link.ts';
import { changeForm } from '../http/payment-links.ts';
import type { linkView } from '../link-view.ts';
import { linkForm } from '../operations/create-payment-link.ts';
import { ALL, assetForm, assetsField } from '../operations/offered-assets.ts';
import { currencyForm } from '../operations/read-price.ts';
import { termTexts } from './invoices.ts';

const linkId = id('plink', 'The id of the payment link.');
const fiat = (what: string) => fiatAmount(what).nullable();
const maxOpen = 'How many of its invoices may be open at a time.';

export const link = viewed<ReturnType<typeof linkView>>()(
  z
    .strictObject({
      id: linkId,
      url: text('The page to share.'),
      status: oneOf(linkStatuses, 'Only an `active` one takes payments.'),
      description: text('What is paid. The page shows it.'),
      metadata,
      amount_fiat: fiat('The price in `currency`; null: the payer types it.'),
      amount_min: fiat('The least that the payer may type, or null.'),
      amount_max: fiat('The most that the payer may type, or null.'),
      currency: currency.describe('The currency of the amounts.'),
      asset: assetSymbol.nullable().describe('The asset, or null when the payer chooses it.'),
      assets: z
        .union([z.array(assetSymbol), z.literal(ALL)])
        .nullable()
        .describe('What the payer may choose from, or null when there is one `asset`.'),
      expires_in: z.int().min(1).nullable().describe('Minutes to pay, of each invoice; null: the setting.'),
      succeed_url: text('Where the payment page leads when the invoice is paid, or null.').nullable(),
      timeout_url: text('Where the payment page leads when it has expired, or null.').nullable(),
      valid_until: time('When the link ends; null: never.').nullable(),
      max_open: z.int().min(1).max(MAX_OPEN_MAX).describe(maxOpen),
      open_invoices: count('How many of its invoices are neither paid nor expired.'),
      created_at: time('When it was created.'),
      deactivated_at: time('When you ended it, or null.').nullable(),
    })
    .meta({ id: 'PaymentLink', description: 'A page that can be paid any number of times.' }),
);

const params = z.strictObject({ id: linkId });
const texts = {
  description: 'What is paid. The page shows it.',
  amount: 'The price in `currency`. Without it the payer types the amount.',
  amount_min: 'The least that the payer may type. Not together with `amount`.',
  amount_max: 'The most that the payer may type. Not together with `amount`.',
  valid_until: 'When the link ends. Default: never.',
  valid_days: 'The same in days from now. Not together with `valid_until`.',
  max_open: maxOpen,
  ...termTexts,
};

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/payment-links',
    operationId: 'listPaymentLinks',
    tag: 'Payment links',
    summary: 'List payment links',
    description: 'Newest first.',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: { 200: { description: 'A page of payment links.', json: pageOf('PaymentLinkPage', link) } },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/payment-links',
    operationId: 'createPaymentLink',
    tag: 'Payment links',
    summary: 'Create a payment link',
    headers: idempotencyKey,
    body: {
      fields: documented(
        {
          ...linkForm.schema.shape,
          asset: assetForm.schema.shape.asset.optional(),
          assets: assetsField.optional(),
          ...currencyForm.schema.shape,
        },
        {
          ...texts,
          asset: 'The symbol of an active asset. Default: the payer chooses.',
          assets: 'What the payer may choose from. Not together with `asset`.',
          currency: 'The currency of the amounts. Default: the setting of the account.',
        },
      ),
      required: true,
    },
    answers: { 201: { description: 'The link.', json: saidOf(link), headers: ['Idempotent-Replayed'] } },
    errors: ['request_in_progress'],
  },
  {
    method: 'get',
    path: '/api/payment-links/{id}',
    operationId: 'getPaymentLink',
    tag: 'Payment links',
    summary: 'Read a payment link',
    params,
    answers: { 200: { description: 'The link, as the body itself.', json: link } },
    errors: errorsOfResource,
  },
  {
    method: 'patch',
    path: '/api/payment-links/{id}',
    operationId: 'updatePaymentLink',
    tag: 'Payment links',
    summary: 'Change a payment link',
    params,
    body: { fields: documented(changeForm.schema.shape, { max_open: maxOpen }), required: true },
    answers: { 200: { description: 'The link.', json: saidOf(link) } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/payment-links/{id}/deactivate',
    operationId: 'deactivatePaymentLink',
    tag: 'Payment links',
    summary: 'End a payment link',
    description: 'What was begun can still be paid. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: { 200: { description: 'The link.', json: dataOf(link) } },
    errors: errorsOfResource,
  },
];
