import {
  documented,
  errorsOfResource,
  idempotencyKey,
  noFields,
  type Operation,
  pagedQuery,
} from '@quittance/shared/reference';
import { z } from 'zod';
import { fields as settingsFields } from '../http/invoice-settings.ts';
import { invoiceFilters } from '../http/invoices.ts';
import { amountForm, restForm } from '../operations/create-invoice.ts';
import { assetForm, assetsField } from '../operations/offered-assets.ts';
import { currencyForm } from '../operations/read-price.ts';
import { invoice, invoiceData, invoiceId, invoicePage, invoiceSaid } from './invoice-schemas.ts';
import { settings, settingsSaid } from './settings-schemas.ts';

export const termTexts = {
  expires_in: 'Minutes to pay. Default: the setting of the account.',
  metadata: 'An object of your own texts, which nobody but you sees. At most 8 kB.',
  succeed_url: 'Where the payment page leads when the invoice is paid.',
  timeout_url: 'Where the payment page leads when the invoice has expired.',
};

const creation = documented(
  {
    asset: assetForm.schema.shape.asset.optional(),
    assets: assetsField.optional(),
    ...amountForm.schema.shape,
    ...currencyForm.schema.shape,
    ...restForm.schema.shape,
  },
  {
    asset: 'The symbol of an active asset. Give this or `assets`.',
    assets: 'What the payer may choose from: symbols of active assets, or `all`.',
    amount: 'The price in `currency`, worth at least 5 US dollars, with at most two decimals.',
    currency: 'The currency of `amount`. Default: the setting of the account.',
    external_id: 'Your own reference.',
    description: 'What the payment page shows to your customer.',
    ...termTexts,
  },
);

const filters = pagedQuery(invoiceFilters.schema.shape, {
  status: 'Only those with this status.',
  asset: 'Only those in this asset.',
  external_id: 'Only those with this reference of yours.',
  external_id_prefix: 'Only those whose reference begins so.',
  address: 'Only that with this payment address.',
  tx_hash: 'Only those with a payment of this transaction.',
  amount_fiat: 'Only those with this price, in whatever currency.',
  currency: 'Only those in this currency.',
  payment_link_id: 'Only those of this payment link.',
  created_from: 'Created at this moment or later.',
  created_to: 'Created at this moment or earlier.',
  paid_from: 'Paid at this moment or later.',
  paid_to: 'Paid at this moment or earlier.',
  expand: 'Shows each item in full, with its payments.',
  format: '`csv` answers a file of all that the filters match.',
});

const params = z.strictObject({ id: invoiceId });
const csv = { 'text/csv': 'All invoices that the filters match, one row each.' };

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/invoices',
    operationId: 'listInvoices',
    tag: 'Invoices',
    summary: 'List invoices',
    description: 'Newest first.',
    query: filters,
    answers: { 200: { description: 'A page of invoices.', json: invoicePage, others: csv } },
    errors: [],
  },
  {
    method: 'post',
    path: '/api/invoices',
    operationId: 'createInvoice',
    tag: 'Invoices',
    summary: 'Create an invoice',
    description:
      'It needs `asset` or `assets`. Locks the rates and assigns an address of its own. With `assets` the payer chooses the asset, and both happen then.',
    headers: idempotencyKey,
    body: { fields: creation, required: true, either: ['asset', 'assets'] },
    answers: {
      201: {
        description: 'The invoice.',
        json: invoiceSaid,
        headers: ['Location', 'Idempotent-Replayed'],
      },
    },
    errors: ['request_in_progress'],
  },
  {
    method: 'get',
    path: '/api/invoices/{id}',
    operationId: 'getInvoice',
    tag: 'Invoices',
    summary: 'Read an invoice',
    params,
    answers: { 200: { description: 'The invoice, as the body itself.', json: invoice } },
    errors: errorsOfResource,
  },
  {
    method: 'post',
    path: '/api/invoices/{id}/cancel',
    operationId: 'cancelInvoice',
    tag: 'Invoices',
    summary: 'Cancel an invoice',
    description:
      'Ends an invoice for which no payment was seen, and one that never expires of which a part is paid. Repeating the request answers the same.',
    params,
    body: noFields,
    answers: { 200: { description: 'The invoice.', json: invoiceData } },
    errors: [...errorsOfResource, 'not_cancelable'],
  },
  {
    method: 'get',
    path: '/api/invoice-settings',
    operationId: 'getInvoiceSettings',
    tag: 'Invoices',
    summary: 'Read the settings of new invoices',
    description: 'What new invoices of the account have where a request says nothing.',
    answers: { 200: { description: 'The settings.', json: settings } },
    errors: [],
  },
  {
    method: 'patch',
    path: '/api/invoice-settings',
    operationId: 'updateInvoiceSettings',
    tag: 'Invoices',
    summary: 'Change the settings of new invoices',
    description: 'Fields that are not named stay.',
    body: {
      fields: documented(
        {
          currency: settingsFields.currency('currency').optional(),
          expires_in: settingsFields.expires_in('expires in'),
          tolerance: settingsFields.tolerance('tolerance').optional(),
          shop_name: settingsFields.shop_name('shop name'),
          shop_logo: settingsFields.shop_logo('shop logo'),
          language: settingsFields.language('language'),
          redirect_hosts: settingsFields.redirect_hosts('redirect hosts'),
          frame_ancestors: settingsFields.frame_ancestors('frame ancestors'),
        },
        {
          currency: 'The currency of new invoices.',
          expires_in: 'Minutes to pay; null: new invoices never expire.',
          tolerance:
            'Per cent, with at most two decimals: an invoice is paid when at most so much is missing.',
          shop_name: 'The name that the pages of customers show; null: none.',
          shop_logo:
            'The picture that they show: a data URI of a PNG, JPEG or WebP, at most 8,192 characters; null: none.',
          language: "The language of these pages; null: as each customer's browser asks.",
          redirect_hosts:
            'The hosts that the `succeed_url` and `timeout_url` of new invoices and payment links may have; empty: any.',
          frame_ancestors: 'The origins of https that may show these pages in a frame; empty: none.',
        },
      ),
      required: true,
    },
    answers: { 200: { description: 'The settings.', json: settingsSaid } },
    errors: [],
  },
];
