import type { Example } from '@quittance/shared/reference';
import {
  AT,
  exampleAsset,
  exampleIds,
  examplePage,
  exampleRates,
  LATER,
  TX_HASH,
  URL,
} from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { invoice, listedInvoice } from './invoice-schemas.ts';
import type { link } from './payment-links.ts';
import type { settings } from './settings-schemas.ts';
import type { day } from './volume.ts';

const { invoice: id, link: linkId } = exampleIds;

const listed: z.input<typeof listedInvoice> = {
  id,
  external_id: 'order-1042',
  amount_fiat: '25.00',
  usd_rate: '2500',
  status: 'pending',
  expires_at: LATER,
  paid_at: null,
  created_at: AT,
  amount: '0.01',
  asset: exampleAsset,
};

const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const pending: z.input<typeof invoice> = {
  ...listed,
  currency: 'USD',
  rate: exampleRates,
  pending_amount: '0',
  paid_amount: '0',
  reversed_amount: '0',
  amount_remaining: '0.01',
  refunded_amount: '0',
  cancelled_at: null,
  description: 'Two tickets',
  metadata: { customer: '7' },
  url: `${URL}/pay/${id}`,
  address: { address, uri: `ethereum:${address}@1?value=1e16` },
  payments: [],
  refunds: [],
};

const paid: z.input<typeof invoice> = {
  ...pending,
  status: 'paid',
  paid_at: LATER,
  paid_amount: '0.01',
  amount_remaining: '0',
  address: { address, uri: address },
  payments: [
    {
      tx_hash: TX_HASH,
      output_index: 0,
      amount: '0.01',
      status: 'confirmed',
      confirmations: 12,
      required_confirmations: 12,
      block_height: 21_500_000,
      first_seen_at: AT,
      confirmed_at: LATER,
      explorer_url: `https://etherscan.io/tx/${TX_HASH}`,
    },
  ],
};

const exampleSettings: z.input<typeof settings> = {
  currency: 'EUR',
  expires_in: 30,
  tolerance: '0.5',
  shop_name: 'Tea House',
  shop_logo: null,
  language: null,
  redirect_hosts: ['shop.example'],
  frame_ancestors: [],
};

const exampleDay: z.input<typeof day> = {
  date: '2026-01-31',
  created: 12,
  paid: 9,
  currencies: [
    { currency: 'USD', created: 10, paid: 8, paid_amount: '312.50' },
    { currency: 'EUR', created: 2, paid: 1, paid_amount: '25.00' },
  ],
};

const exampleLink: z.input<typeof link> = {
  id: linkId,
  url: `${URL}/link/${linkId}`,
  status: 'active',
  description: 'Donation',
  metadata: {},
  amount_fiat: null,
  amount_min: '5.00',
  amount_max: '500.00',
  currency: 'USD',
  asset: null,
  assets: 'all',
  expires_in: null,
  succeed_url: null,
  timeout_url: null,
  valid_until: null,
  max_open: 100,
  open_invoices: 0,
  created_at: AT,
  deactivated_at: null,
};

const params = { id };
const ofLink = { params: { id: linkId } };

export const examples: Readonly<Record<string, Example>> = {
  listInvoices: { query: { status: 'pending', perPage: 10 }, answer: examplePage('/api/invoices', listed) },
  createInvoice: {
    headers: { 'Idempotency-Key': 'order-1042' },
    body: {
      asset: 'ETH',
      amount: 25,
      external_id: 'order-1042',
      description: 'Two tickets',
      metadata: { customer: '7' },
    },
    answer: { message: 'Invoice created successfully.', data: pending },
  },
  getInvoice: { params, answer: paid },
  cancelInvoice: {
    params,
    answer: { data: { ...pending, status: 'expired', expires_at: AT, cancelled_at: AT } },
  },
  getInvoiceSettings: { answer: exampleSettings },
  updateInvoiceSettings: {
    body: { currency: 'EUR', expires_in: 30, tolerance: 0.5 },
    answer: { message: 'Invoice settings updated successfully.', data: exampleSettings },
  },
  listVolume: {
    query: { from: '2026-01-31', to: '2026-01-31' },
    answer: { data: [exampleDay] },
  },
  listPaymentLinks: { query: { perPage: 10 }, answer: examplePage('/api/payment-links', exampleLink) },
  createPaymentLink: {
    headers: { 'Idempotency-Key': 'donations' },
    body: { description: 'Donation', amount_min: 5, amount_max: 500 },
    answer: { message: 'Payment link created successfully.', data: exampleLink },
  },
  getPaymentLink: { ...ofLink, answer: exampleLink },
  updatePaymentLink: {
    ...ofLink,
    body: { max_open: 500 },
    answer: { message: 'Payment link updated successfully.', data: { ...exampleLink, max_open: 500 } },
  },
  deactivatePaymentLink: {
    ...ofLink,
    answer: { data: { ...exampleLink, status: 'deactivated', deactivated_at: LATER } },
  },
};
