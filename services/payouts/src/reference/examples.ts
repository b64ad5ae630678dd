import type { Example } from '@quittance/shared/reference';
import {
  AT,
  exampleReducedAsset as asset,
  exampleIds,
  examplePage,
  LATER,
  RECIPIENT,
  TX_HASH,
  URL,
} from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { address, policy } from './payout-policy.ts';
import type { attempt, automaticPayout, batch, payout, quote } from './payout-schemas.ts';
import type { refund } from './refunds.ts';

const { payout: id, invoice, deposit, batch: batchId, refund: refundId } = exampleIds;

const pending: z.input<typeof payout> = {
  id,
  type: 'payout',
  amount: '0.5',
  tx_hash: null,
  to_address: RECIPIENT,
  status: 'pending',
  failed_reason: '',
  approval: null,
  cancel_requested_at: null,
  created_at: AT,
  completed_at: null,
  failed_at: null,
  asset,
  network_fee: '0.0005',
  total: '0.5005',
  usd_rate: '2500',
  usd_value: '1250',
  external_id: 'supplier-7',
  metadata: {},
  deposit_id: null,
  batch_id: null,
  automatic: false,
  refund_id: null,
  invoice_id: null,
};
const mined = { ...pending, status: 'mined', tx_hash: TX_HASH, completed_at: LATER } as const;

const minedAttempt: z.input<typeof attempt> = {
  attempt: 2,
  status: 'mined',
  tx_hash: TX_HASH,
  explorer_url: `https://etherscan.io/tx/${TX_HASH}`,
  fee_asset: 'ETH',
  fee_max: '0.00063',
  fee_paid: '0.00052',
  fee_rate: { value: '30', unit: 'gwei' },
  block_height: 21_000_000,
  signed_at: AT,
  sent_at: AT,
};
const replacedHash = `0x${TX_HASH.slice(2).split('').reverse().join('')}`;
const exampleAttempts: z.input<typeof attempt>[] = [
  {
    ...minedAttempt,
    attempt: 1,
    status: 'replaced',
    tx_hash: replacedHash,
    explorer_url: `https://etherscan.io/tx/${replacedHash}`,
    fee_max: '0.00042',
    fee_paid: null,
    fee_rate: { value: '20', unit: 'gwei' },
    block_height: null,
  },
  minedAttempt,
];

const waiting = {
  status: 'waiting',
  needed: 1,
  given: [],
  requested_by: exampleIds.token,
  expires_at: '2026-12-02T09:30:00.000Z',
} as const;
const approver = `tok_${exampleIds.token.slice(4).split('').reverse().join('')}`;
const decision = (said: 'approved' | 'rejected') => ({
  token_id: approver,
  person_id: null,
  decision: said,
  at: LATER,
});

const examplePolicy: z.input<typeof policy> = {
  type: 'payout_policy',
  allow_list: true,
  delay_hours: 24,
  limits: [{ asset: 'ETH', per_payout: '2', per_24h: '5', approval_above: '0.5', approvals: 1 }],
  next: null,
  updated_at: AT,
};
const exampleAddress: z.input<typeof address> = {
  id: exampleIds.address,
  type: 'address',
  chain: 'ethereum',
  address: RECIPIENT,
  label: 'Treasury',
  created_at: AT,
  usable_at: '2026-11-26T09:30:00.000Z',
};

const exampleQuote: z.input<typeof quote> = {
  amount: '0.5',
  network_fee: '0.0005',
  total: '0.5005',
  usd_rate: '2500',
  usd_value: '1250',
  promised_amount: '0',
  to_address: RECIPIENT,
  asset,
  valid: { as_of: AT, guaranteed: false },
};

const exampleBatch: z.input<typeof batch> = {
  id: batchId,
  type: 'payout_batch',
  mode: 'each',
  created_at: AT,
  totals: { lines: 1, created: 1, refused: 0, invalid: 0, unavailable: 0, undecided: 0 },
  lines: [{ line: 1, status: 'created', payout_id: id }],
};
const { lines: _, ...listedBatch } = exampleBatch;

const rule: z.input<typeof automaticPayout> = {
  type: 'automatic_payout',
  asset,
  address: RECIPIENT,
  schedule: 'threshold',
  threshold: '2',
  enabled: true,
  next_run_at: AT,
  last_run_at: null,
  last_payout_id: null,
  last_error: null,
  created_at: AT,
  updated_at: AT,
};

const claimable: z.input<typeof refund> = {
  id: refundId,
  status: 'claimable',
  invoice_id: invoice,
  deposit_id: null,
  requested: '25',
  currency: 'USD',
  amount_fiat: '25.00',
  rate: 'then',
  rates_now: null,
  amount: '0.01',
  share: '0.01',
  asset,
  payout_id: null,
  external_id: null,
  metadata: {},
  expires_at: '2026-12-25T09:30:00.000Z',
  unfunded_since: null,
  created_at: AT,
};

const order = { asset: 'ETH', amount: 0.5, address: RECIPIENT };
const params = { id };
const ofRefund = { params: { id: refundId } };
const created = { message: 'Payout created successfully.', data: { id } };

export const examples: Readonly<Record<string, Example>> = {
  listPayouts: { query: { asset: 'ETH' }, answer: examplePage('/api/payouts', mined) },
  createPayout: {
    headers: { 'Idempotency-Key': 'supplier-7' },
    body: { ...order, external_id: 'supplier-7' },
    answer: created,
  },
  quotePayout: { query: order, answer: exampleQuote },
  getPayout: { params, answer: mined },
  listPayoutAttempts: { params, answer: { data: exampleAttempts } },
  listHaltedAssets: { answer: { data: [{ asset, halted_at: AT }] } },
  cancelPayout: {
    params,
    answer: {
      message: 'Payout cancelled successfully.',
      data: {
        ...pending,
        status: 'failed',
        failed_reason: 'cancelled',
        failed_at: LATER,
        cancel_requested_at: LATER,
      },
    },
  },
  approvePayout: {
    params,
    answer: {
      message: 'Payout approved successfully.',
      data: { ...pending, approval: { ...waiting, status: 'approved', given: [decision('approved')] } },
    },
  },
  rejectPayout: {
    params,
    answer: {
      message: 'Payout rejected successfully.',
      data: {
        ...pending,
        approval: { ...waiting, status: 'rejected', given: [decision('rejected')] },
        cancel_requested_at: LATER,
      },
    },
  },
  getPayoutPolicy: { answer: examplePolicy },
  putPayoutPolicy: {
    body: {
      allow_list: true,
      delay_hours: 24,
      limits: [{ asset: 'ETH', per_payout: '2', per_24h: '5', approval_above: '0.5', approvals: 1 }],
    },
    answer: { message: 'Payout policy saved successfully.', data: examplePolicy },
  },
  listAddressBook: { query: { perPage: 10 }, answer: examplePage('/api/address-book', exampleAddress) },
  addAddress: {
    body: { chain: 'ethereum', address: RECIPIENT, label: 'Treasury' },
    answer: { message: 'Address added successfully.', data: exampleAddress },
  },
  deleteAddress: {
    params: { id: exampleIds.address },
    answer: { message: 'Address deleted successfully.' },
  },
  listPayoutBatches: { query: { perPage: 10 }, answer: examplePage('/api/payout-batches', listedBatch) },
  createPayoutBatch: {
    headers: { 'Idempotency-Key': 'salaries-2026-11' },
    body: { mode: 'each', payouts: [order] },
    answer: { message: 'The batch was carried out.', data: exampleBatch },
  },
  getPayoutBatch: { params: { id: batchId }, answer: exampleBatch },
  listAutomaticPayouts: { answer: { data: [rule] } },
  putAutomaticPayout: {
    params: { asset: 'ETH' },
    body: { address: RECIPIENT, schedule: 'threshold', threshold: 2 },
    answer: { message: 'Automatic payout saved successfully.', data: rule },
  },
  deleteAutomaticPayout: {
    params: { asset: 'ETH' },
    answer: { message: 'Automatic payout deleted successfully.' },
  },
  refundInvoice: {
    params: { id: invoice },
    headers: { 'Idempotency-Key': 'order-1042-refund' },
    body: { amount: 25 },
    answer: {
      message: 'Refund created successfully.',
      data: { ...claimable, claim_url: `${URL}/claim/3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA` },
    },
  },
  listRefunds: { query: { status: 'claimable' }, answer: examplePage('/api/refunds', claimable) },
  getRefund: { ...ofRefund, answer: claimable },
  cancelRefund: { ...ofRefund, answer: { data: { ...claimable, status: 'cancelled' } } },
  returnUnresolved: {
    params: { id: deposit },
    headers: { 'Idempotency-Key': 'late-payment-1042' },
    body: { address: RECIPIENT },
    answer: created,
  },
};
