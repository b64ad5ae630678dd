import { expect, test } from '@jest/globals';
import type {
  BalanceTransaction,
  Invoice,
  Payout,
  QuittanceEvent,
  Refund,
  UnresolvedFunds,
} from '@quittance/client';
import { timelineOf } from './timeline.ts';

const at = (minute: number) => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`;
const eth = { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 };

const anInvoice = (fields: object = {}) =>
  ({
    id: 'inv_1',
    status: 'paid',
    created_at: at(0),
    expires_at: at(59),
    paid_at: at(6),
    cancelled_at: null,
    asset: eth,
    payments: [
      { amount: '1234.5', first_seen_at: at(2), confirmed_at: at(4), tx_hash: '0x1' },
      { amount: '0.5', asset: 'USDC_ERC20', first_seen_at: at(3), confirmed_at: null, tx_hash: '0x2' },
    ],
    ...fields,
  }) as unknown as Invoice;

const titles = (records: Partial<Parameters<typeof timelineOf>[0]>) =>
  timelineOf({ invoice: anInvoice(), ...records }, (asset) => asset.toLowerCase()).map(({ title }) => title);

test('a timeline without what the reader may not read is made of the invoice alone', () => {
  expect(titles({})).toEqual([
    'Paid',
    'The payment of 1,234.5 eth is final',
    'A payment of 0.5 usdc_erc20 was seen',
    'A payment of 1,234.5 eth was seen',
    'Created',
  ]);
});

test('what every service knows of an invoice is in one order, newest first', () => {
  const events = [
    { event: 'invoice.created', created_at: at(0) },
    { event: 'invoice.confirmed', created_at: at(3) },
    { event: 'invoice.paid', created_at: at(6) },
  ] as QuittanceEvent[];
  const transactions = [
    { type: 'payment', net: '1234.5', balance_after: '2000', asset: eth, created_at: at(5) },
    { type: 'refund', net: '-1.0001', balance_after: '1998.9999', asset: eth, created_at: at(8) },
  ] as BalanceTransaction[];
  const refunds = [{ amount: '1', asset: eth, expires_at: null, created_at: at(7) }] as Refund[];
  const payouts = [
    {
      id: 7,
      amount: '1',
      asset: eth,
      created_at: at(8),
      completed_at: at(9),
      failed_at: null,
      failed_reason: '',
    },
  ] as Payout[];
  const unresolved = [
    {
      id: 'dep_1',
      status: 'returned',
      reason: 'wrong_asset',
      amount: '0.5',
      asset: { symbol: 'USDC_ERC20' },
      created_at: at(10),
      resolved_at: at(11),
    },
  ] as UnresolvedFunds[];
  expect(titles({ events, transactions, refunds, payouts, unresolved })).toEqual([
    '0.5 usdc_erc20 was returned',
    '0.5 usdc_erc20 waited for your decision',
    'The payout of 1 eth is done',
    'The payout of 1 eth was requested',
    '1.0001 eth taken from the balance for a refund, with its network fee',
    'A refund of 1 eth was created',
    'Paid',
    '1,234.5 eth credited to the balance',
    'The payment of 1,234.5 eth is final',
    'A payment of 0.5 usdc_erc20 was seen',
    'Enough has arrived, and waits for its confirmations',
    'A payment of 1,234.5 eth was seen',
    'Created',
  ]);
});

test('a payment that the clock of its chain has seen before the invoice was created stands after it', () => {
  const early = {
    amount: '1',
    first_seen_at: '2026-01-02T02:59:00.000Z',
    confirmed_at: null,
    tx_hash: '0x1',
  };
  expect(titles({ invoice: anInvoice({ status: 'pending', paid_at: null, payments: [early] }) })).toEqual([
    'A payment of 1 eth was seen',
    'Created',
  ]);
});

test('an invoice that has expired or was cancelled says which', () => {
  const unpaid = { status: 'expired', paid_at: null, payments: [] };
  expect(titles({ invoice: anInvoice(unpaid) })).toEqual(['Expired', 'Created']);
  expect(titles({ invoice: anInvoice({ ...unpaid, cancelled_at: at(5) }) })).toEqual([
    'Cancelled',
    'Created',
  ]);
  expect(titles({ invoice: anInvoice({ ...unpaid, status: 'pending' }) })).toEqual(['Created']);
});
