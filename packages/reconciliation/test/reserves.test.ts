import { beforeEach, expect, test } from '@jest/globals';
import { BalanceSnapshots } from '../src/balance-snapshots.ts';
import type { LateTransactions } from '../src/late-transactions.ts';
import {
  aPayout,
  aTransaction,
  compareEach,
  DEPOSIT,
  type Given,
  HOT,
  hash,
  PAID,
  RECIPIENT,
} from './comparison-fixture.ts';

/** 100 units are booked: 60 at a deposit address, and 40 in the hot wallet beside 30 of the operator's. */

const COST = 20n;

const at = compareEach();
const { discrepanciesOf } = at;
beforeEach(() => {
  at.node.balances.set(HOT, 70n);
});

const eth = (amount: number) => [{ asset: 'ETH' as const, amount: String(amount) }];
const exact = (given: Given = {}): Given => ({ booked: eth(100), funds: eth(30), ...given });
const transaction = { ...aTransaction, state: 'broadcast' };
const payout = { ...aPayout, amount: '15', status: 'broadcast', is_held: true };
/** The payout is in the chain: its amount has left the hot wallet, and the cost. */
function paid(): void {
  at.node.mined.set(PAID, { to: RECIPIENT, value: 15n, succeeded: true, height: 10 });
  at.node.balances.set(HOT, 70n - 15n - COST);
}
const late: LateTransactions = {
  transactions: [{ tx_hash: PAID, group_id: '1' }],
  payouts: [{ id: '7', group_id: '1', asset: 'ETH', amount: '15' }],
};

test('the operator’s funds cover no theft: one unit less is named, though all that is owed is there', async () => {
  expect(await discrepanciesOf(exact())).toEqual([]);
  at.node.balances.set(HOT, 69n);
  expect(await discrepanciesOf(exact())).toEqual([
    expect.stringMatching(
      /^ETH is short of 1: 100 is owed, 129 lies on ethereum, 29 of it the operator's, who had 30/,
    ),
  ]);
  expect(await discrepanciesOf(exact({ funds: [] }))).toEqual([]);
});

test('what is owed must be there, whatever was measured of the operator’s funds', async () => {
  at.node.balances.set(HOT, 39n);
  expect(await discrepanciesOf(exact({ funds: eth(-1) }))).toEqual([
    expect.stringMatching(/^ETH is short of 1/),
  ]);
});

const costs = [{ tx_hash: PAID, amount: '20' }];
const settled = {
  owed: eth(80),
  transactions: [{ ...transaction, state: 'mined' }],
  payouts: [{ ...payout, status: 'mined', is_held: false }],
};
/** With what is in the chain, where that is not the payout. */
test.each<[string, Given, (() => unknown)?]>([
  ['a payout that has left and is still booked', { transactions: [transaction], payouts: [payout] }],
  ['a payout that was settled, and whose cost is not booked', { ...settled, booked: eth(85) }],
  ['a cost that the ledger has not been told of yet', { owed: eth(80), booked: eth(85), spent: costs }],
  ['a cost that is booked', { ...settled, booked: eth(65), costs }],
  [
    'a payout that has left and is still booked, while its cost is not any more',
    { owed: eth(80), booked: eth(80), costs, transactions: [transaction], payouts: [payout] },
  ],
  ['a deposit that the chain has dropped', { dropped: eth(60) }, () => at.node.balances.set(DEPOSIT, 0n)],
  [
    'what sweeps have left behind',
    { leftBehind: eth(3), leftLately: [{ tx_hash: PAID, asset: 'ETH', amount: '2' }] },
    () => at.node.balances.set(HOT, 65n),
  ],
  [
    'a settled deposit that the ledger has not been told of',
    { booked: eth(40), owed: eth(40), unbooked: eth(60) },
    () => at.node.balances.set(HOT, 70n),
  ],
])('%s is accounted for, and one unit less is named', async (_, given, inChain = paid) => {
  inChain();
  const records = exact(given);
  expect(await discrepanciesOf(records)).toEqual([]);
  at.node.balances.set(HOT, (at.node.balances.get(HOT) ?? 0n) - 1n);
  expect(await discrepanciesOf(records)).toEqual([expect.stringMatching(/^ETH is short of 1/)]);
});

test('what was signed and mined while the node was asked is no shortage', async () => {
  paid();
  expect(await discrepanciesOf(exact())).toEqual([expect.stringMatching(/^ETH is short of 35/)]);
  expect(await discrepanciesOf(exact(), { readLate: async () => late })).toEqual([]);
});

test('a payout whose fee was raised while the node was asked has left once', async () => {
  paid();
  const second = hash('8');
  at.node.mined.delete(PAID);
  at.node.mined.set(second, { to: RECIPIENT, value: 15n, succeeded: true, height: 10 });
  const raised = { ...late, transactions: [{ tx_hash: second, group_id: '1' }] };
  const records = exact({ transactions: [transaction], payouts: [payout] });
  expect(await discrepanciesOf(records, { readLate: async () => raised })).toEqual([]);
});

test.each<[string, Given, LateTransactions | undefined, boolean]>([
  ['nothing is on its way', {}, undefined, true],
  ['a transaction is open', { transactions: [transaction] }, undefined, false],
  ['one was signed while the node was asked', {}, late, false],
  [
    'a deposit is being swept',
    { held: [{ asset: 'ETH', address: DEPOSIT, amount: '60', moving: true }] },
    undefined,
    false,
  ],
  [
    'a mined transaction has left the chain for a while',
    {
      transactions: [{ ...transaction, state: 'mined', may_leave: true }],
      costs,
    },
    undefined,
    false,
  ],
  ['the chain has dropped a deposit', { dropped: eth(1) }, undefined, false],
])('when %s, the reserves are still or not accordingly', async (_, given, readLate, isStill) => {
  const balances = new BalanceSnapshots();
  await discrepanciesOf(exact(given), { balances, ...(readLate && { readLate: async () => readLate }) });
  expect(balances.backing.get('ETH')?.isStill).toBe(isStill);
});

test('a node that is ahead of the records is asked for their block', async () => {
  at.node.blocks.set(12, hash('c'));
  await discrepanciesOf(exact());
  expect(at.node.askedAt).toEqual([hash('a'), hash('a')]);
  at.node.blocks.set(200, hash('d'));
  at.node.askedAt = [];
  await discrepanciesOf(exact());
  expect(at.node.askedAt).toEqual([hash('d'), hash('d')]);
});

test('what came to a deposit address beside what is booked there is no money of the operator’s', async () => {
  const balances = new BalanceSnapshots();
  await discrepanciesOf(exact(), { balances });
  at.node.balances.set(DEPOSIT, 61n);
  await discrepanciesOf(exact(), { balances: new BalanceSnapshots() });
  const later = new BalanceSnapshots();
  await discrepanciesOf(exact(), { balances: later });
  expect([balances, later].map((one) => one.backing.get('ETH')?.beyond)).toEqual([30n, 30n]);
  // It is written down now.
  const held = [{ asset: 'ETH' as const, address: DEPOSIT, amount: '61', moving: false }];
  expect(await discrepanciesOf(exact({ held, booked: eth(101), owed: eth(101) }))).toEqual([]);
});
