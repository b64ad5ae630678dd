import type { Example } from '@quittance/shared/reference';
import {
  AT,
  exampleReducedAsset as asset,
  exampleAsset,
  exampleIds,
  examplePage,
  LATER,
  TX_HASH,
} from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { balance, statement, transaction } from './balances.ts';
import type { unresolved } from './unresolved.ts';

const { invoice, deposit } = exampleIds;

const exampleBalance: z.input<typeof balance> = {
  asset: exampleAsset,
  balance: '1.25',
  usd_value: '3125',
  held: '0',
};

const payment: z.input<typeof transaction> = {
  id: `txn_deposit-${deposit}`,
  type: 'payment',
  asset,
  amount: '0.01',
  fee: '0',
  net: '0.01',
  balance_after: '1.25',
  usd_rate: '2500',
  usd_value: '25',
  currency: 'USD',
  currency_usd_rate: '1',
  value: '25',
  source: { type: 'invoice', id: invoice },
  payout_id: null,
  created_at: AT,
};

const sums = { count: 1, amount: '0.01', fee: '0', net: '0.01', value: '25', without_value: 0 };
const exampleStatement: z.input<typeof statement> = {
  month: '2026-10',
  asset,
  currency: 'USD',
  from: '2026-10-01T00:00:00.000Z',
  to: '2026-11-01T00:00:00.000Z',
  complete: true,
  opening_balance: '1.24',
  entries: [{ type: 'payment', ...sums }],
  total: sums,
  closing_balance: '1.25',
  generated_at: AT,
};

const open: z.input<typeof unresolved> = {
  id: deposit,
  status: 'open',
  reason: 'late',
  amount: '0.01',
  returning_amount: '0',
  returned_amount: '0',
  asset,
  invoice_id: invoice,
  tx_hash: TX_HASH,
  payout_id: null,
  created_at: AT,
  resolved_at: null,
};

const params = { id: deposit };

export const examples: Readonly<Record<string, Example>> = {
  listBalances: { answer: { data: [exampleBalance] } },
  listBalanceTransactions: {
    query: { asset: 'ETH', limit: 10 },
    answer: { data: [payment], has_more: false },
  },
  getStatement: { query: { month: '2026-10', asset: 'ETH' }, answer: exampleStatement },
  listAssets: { answer: { data: [exampleAsset] } },
  listUnresolved: { query: { status: 'open' }, answer: examplePage('/api/unresolved', open) },
  getUnresolved: { params, answer: open },
  acceptUnresolved: {
    params,
    answer: {
      message: 'The funds were added to the balance.',
      data: { ...open, status: 'accepted', resolved_at: LATER },
    },
  },
};
