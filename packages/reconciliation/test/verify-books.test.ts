import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { runAll, suiteDatabase } from '@quittance/testkit/suite-database';
import { checkInvariants } from '../src/check-invariants.ts';
import { invariants } from '../src/invariants.ts';
import { snapshotOf } from '../src/snapshot.ts';
import { verifyBooks } from '../src/verify-books.ts';
import {
  aChoice,
  anEndpoint,
  anUnchosen,
  aSecondDeposit,
  aTransaction,
  itsEvent,
  rightBooks,
} from './right-books.ts';
import { seededDiscrepancies } from './seeded-discrepancies.ts';

/** A small set of right books, then one thing wrong at a time: each must be named, and nothing else. */

const database = await suiteDatabase();
const db = database.openAsAdmin('public', { pool: 1 });
const run = (sql: string) => runAll(db, sql);
const noTriggers = 'set session_replication_role = replica';

beforeAll(() => run(`${noTriggers}; insert into auditor.balance_snapshots_until (transfer_seq) values (0)`));
beforeEach(() => run(rightBooks));
database.finally(() => run(rightBooks));

/** Nothing that is new or open leads to them: they are found once a day. */
const leftToWholeChecks = new Set([
  'a deposit that was never booked',
  'a hold for a payout that does not exist',
  'an event without a delivery',
  'a gap in an account’s events',
  'an account whose first events are gone',
  'an account all of whose events are gone',
  'an event that was pruned and is there',
  'write-offs that are not booked',
]);

/** What a check of these rows finds, with nothing on its way. */
const check = (given: Partial<Parameters<typeof checkInvariants>[2]> = {}) =>
  checkInvariants(snapshotOf(db, 10_000), invariants, { gracePeriodSeconds: 0, ...given });
/** What is new since the beginning of time. */
const recent = { watermarks: { transfers: '0', deposits: '0', transactions: '0' } };

test('right books have no discrepancy', async () => {
  const report = await verifyBooks({ databaseUrl: database.adminUrl, gracePeriodSeconds: 0 });
  expect(report.discrepancies).toEqual([]);
  expect(report.checked).toMatchObject({ transfers: 2, entries: 4, balances: 1, payouts: 1, deposits: 1 });
});

test('a choice that made its invoice has no discrepancy, and neither has an invoice that waits for the choice', async () => {
  await run(`${aChoice}; ${anUnchosen}`);
  const report = await verifyBooks({ databaseUrl: database.adminUrl, gracePeriodSeconds: 0 });
  expect(report.discrepancies).toEqual([]);
  expect(report.checked).toMatchObject({ choices: 1, unchosen: 1, deposits: 1 });
  expect(report.checked.invariants).toContain('I13');
  expect(await check(recent)).toEqual([]);
});

test('whoever is named by a discrepancy has an asset, unless it is of no matter for money', async () => {
  await run(`update ledger.balances set available = available + 1`);
  expect(await check()).toEqual([
    {
      invariant: 'I2',
      name: 'balances-match-entries',
      meaning: 'every balance equals the sum of its entries',
      what: 'acc_1 ETH available shows 61, its entries say 60',
      subject: 'acc_1 ETH available',
      amount: 1n,
      asset: 'ETH',
      pausesPayouts: true,
    },
  ]);
});

test.each<[string, string, string, bigint]>([
  [
    'a balance that is off',
    'update ledger.balances set available = available + 1',
    'acc_1 ETH available',
    1n,
  ],
  [
    'what is held for nothing',
    'update ledger.holds set amount = amount - 1; update payouts.payouts set amount = amount - 1',
    'acc_1 ETH held',
    1n,
  ],
  [
    'what is unresolved for nothing',
    `insert into ledger.unresolved (deposit_id, account_id, asset, amount)
     select 'dep_' || count(*), 'acc_1', 'ETH', 1 from ledger.unresolved`,
    'acc_1 ETH unresolved',
    -1n,
  ],
  [
    'write-offs that are not booked',
    `insert into ledger.write_offs (account_id, asset, outpoint, amount_left)
     select 'acc_1', 'ETH', '0xt:' || count(*), 1 from ledger.write_offs`,
    'write-offs ETH',
    1n,
  ],
])('%s stays the same discrepancy when it grows, of another amount', async (_, shift, subject, amount) => {
  await run(shift);
  const [first, ...others] = await check();
  await run(shift);
  const [second] = await check();
  expect(others).toEqual([]);
  expect([first, second]).toMatchObject([
    { subject, amount },
    { subject, amount: 2n * amount },
  ]);
});

test.each([
  [
    'it was not enabled, or not subscribed to that event type, when the event happened',
    'subscribed_since = now()',
  ],
  ['it is disabled', 'enabled = false'],
  ['it is deleted', 'deleted_at = now()'],
])('an event needs no delivery to an endpoint when %s', async (_, state) => {
  const wantsIt = `created_at = now() - interval '1 day', event_types = '{invoice.paid}'`;
  await run(`${anEndpoint}; update webhooks.endpoints set ${wantsIt}, ${state}`);
  expect(await check()).toEqual([]);
});

test.each([
  ['when the pause is over', `now() + interval '1 hour'`, []],
  ['later than that', `now() + interval '1 hour 1 second'`, ['I8']],
  ['never', 'null', ['I8']],
])('what waits for an endpoint that asked for an hour, and is looked at %s', async (_, dueAt, breaks) => {
  await run(`${anEndpoint};
    insert into webhooks.endpoint_queues (endpoint_key, open_until, new_due_at) values (9, now() + interval '1 hour', ${dueAt});
    insert into webhooks.deliveries (endpoint_key, sequence, state, due_at) values (9, 1, 'waiting', now())`);
  expect((await check()).map(({ invariant }) => invariant)).toEqual(breaks);
});

test('discrepancies of one asset hide neither another’s nor, once they are known, each other', async () => {
  await run(`
    insert into ledger.balances (account_id, asset, available) select 'acc_x' || n, 'ETH', 1 from generate_series(1, 250) as n;
    insert into ledger.balances (account_id, asset, available) values ('acc_2', 'SOL', 1)`);
  const named = await check();
  expect(Map.groupBy(named, ({ asset }) => asset).get('ETH')).toHaveLength(101);
  expect(named.filter(({ isTheRest }) => isTheRest)).toMatchObject([
    { invariant: 'I2', asset: 'ETH', what: '150 more of ETH', amount: 150n, pausesPayouts: true },
  ]);
  expect(named.filter(({ asset }) => asset === 'SOL')).toMatchObject([{ subject: 'acc_2 SOL available' }]);
  const others = await check({ known: named });
  expect(others.filter(({ asset }) => asset === 'ETH')).toHaveLength(201);
  expect(others.find(({ isTheRest }) => isTheRest)).toMatchObject({ amount: 50n });
});

test('money in motion is no discrepancy, however long its event is on the way', async () => {
  await run(`${aSecondDeposit('settled')}; ${itsEvent};
    update invoices.deposits set settled_at = now() - interval '1 day' where id = 'dep_2';
    ${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x1', 30);
    update payouts.transactions set state = 'mined', amount = 30, block_height = 1, block_hash = '0xb';
    update payouts.payouts set status = 'mined', tx_hash = '0x9', completed_at = now(), updated_at = now() - interval '1 day';
    insert into payouts.outbox (id, kind, payload, sent_at) values ('evt_11', 'hold.settle', '{"payout_id":"7"}', now())`);
  const late = await check();
  expect([...new Set(late.map(({ invariant, pausesPayouts }) => `${invariant} ${pausesPayouts}`))]).toEqual([
    'I7 false',
  ]);
  expect(await check({ gracePeriodSeconds: 60 })).toEqual([]);
});

test.each(seededDiscrepancies)('%s', async (what, plant, named) => {
  await run(plant);
  const discrepancies = await check();
  expect(discrepancies.map(({ invariant }) => invariant)).toEqual(named);
  for (const { what, subject } of discrepancies)
    expect([what, subject]).toEqual(Array(2).fill(expect.stringMatching(/\w/)));
  // What is asked every minute raises the alarm as well: then every row is looked at.
  expect([what, (await check(recent)).length > 0]).toEqual([what, !leftToWholeChecks.has(what)]);
});

test.each([
  [60, []],
  [61, ['the refunds of invoice inv_1 take 61, and 60 was paid']],
])(
  'refunds of %p are held against the 60 that were accepted of 100 for an invoice that is not paid',
  async (share, found) => {
    await run(`
    update invoices.invoices set status = 'expired', closed_at = now(), paid_at = null;
    update invoices.deposits set disposition = 'unresolved';
    insert into ledger.transfers (op, kind, account_id, asset, amount) values ('accept:dep_1', 'accept', 'acc_1', 'ETH', 60);
    insert into payouts.refunds (id, account_id, invoice_id, asset, share, amount, requested, rate, state, claim_hash, expires_at,
        created_at)
      values ('ref_1', 'acc_1', 'inv_1', 'ETH', ${share}, ${share}, 'all', 'then', 'claimable', sha256('1'), now(), now())`);
    const refunds = invariants.filter(({ name }) => name === 'refunds-within-payment');
    const discrepancies = await checkInvariants(snapshotOf(db, 10_000), refunds, { gracePeriodSeconds: 0 });
    expect(discrepancies.map(({ what }) => what)).toEqual(found);
  },
);
