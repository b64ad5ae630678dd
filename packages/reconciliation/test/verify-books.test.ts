import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { checkInvariants } from '../src/check-invariants.ts';
import { invariants } from '../src/invariants.ts';
import { snapshotOf } from '../src/snapshot.ts';
import { verifyBooks } from '../src/verify-books.ts';
import { anEndpoint, aSecondDeposit, aTransaction, itsEvent, rightBooks } from './right-books.ts';
import { seededDiscrepancies } from './seeded-discrepancies.ts';

/** A small set of right books, then one thing wrong at a time: each must be named, and nothing else. */

let database: TestDatabase;
let db: Db;

const noTriggers = 'set session_replication_role = replica';

beforeAll(async () => {
  database = await testDatabase();
  db = openDb({ url: database.adminUrl, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
  await run(rightBooks);
  await run('insert into auditor.balance_snapshots_until (transfer_seq) values (0)');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function run(sql: string): Promise<void> {
  for (const one of sql.split(';')) if (one.trim() !== '') await db.rows(one);
}

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

/** What a check of what is new finds, since the beginning of time. */
const recent = () =>
  checkInvariants(snapshotOf(db, 10_000), invariants, {
    gracePeriodSeconds: 0,
    watermarks: { transfers: '0', deposits: '0', transactions: '0' },
  });

const verify = () => verifyBooks({ databaseUrl: database.adminUrl, gracePeriodSeconds: 0 });

test('right books have no discrepancy', async () => {
  const report = await verify();
  expect(report.discrepancies).toEqual([]);
  expect(report.checked).toMatchObject({ transfers: 2, entries: 4, balances: 1, payouts: 1, deposits: 1 });
});

test('whoever is named by a discrepancy has an asset, unless it is of no matter for money', async () => {
  await run(`${noTriggers}; update ledger.balances set available = available + 1`);
  try {
    expect((await verify()).discrepancies).toEqual([
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
  } finally {
    await run('update ledger.balances set available = available - 1');
  }
});

test.each<[string, (by: number) => string, string, bigint]>([
  [
    'a balance that is off',
    (by) => `update ledger.balances set available = available + ${by}`,
    'acc_1 ETH available',
    2n,
  ],
  [
    'what is held for nothing',
    (by) =>
      `update ledger.holds set amount = amount - ${by}; update payouts.payouts set amount = amount - ${by}`,
    'acc_1 ETH held',
    2n,
  ],
  [
    'what is unresolved for nothing',
    (by) =>
      by < 0
        ? 'delete from ledger.unresolved'
        : `insert into ledger.unresolved (deposit_id, account_id, asset, amount)
           select 'dep_' || count(*), 'acc_1', 'ETH', ${by} from ledger.unresolved`,
    'acc_1 ETH unresolved',
    -2n,
  ],
  [
    'write-offs that are not booked',
    (by) =>
      by < 0
        ? 'delete from ledger.write_offs'
        : `insert into ledger.write_offs (account_id, asset, outpoint, amount_left)
           select 'acc_1', 'ETH', '0xt:' || count(*), ${by} from ledger.write_offs`,
    'write-offs ETH',
    2n,
  ],
])('%s stays the same discrepancy when it grows, of another amount', async (_, shift, subject, twice) => {
  await run(`${noTriggers}; ${shift(1)}`);
  try {
    const [first, ...others] = (await verify()).discrepancies;
    await run(shift(1));
    const [second] = (await verify()).discrepancies;
    expect(others).toEqual([]);
    expect([first, second]).toMatchObject([
      { subject, amount: twice / 2n },
      { subject, amount: twice },
    ]);
  } finally {
    await run(shift(-2));
  }
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
  try {
    expect((await verify()).discrepancies).toEqual([]);
  } finally {
    await run('delete from webhooks.endpoints');
  }
});

test.each([
  ['when the pause is over', `now() + interval '1 hour'`, []],
  ['later than that', `now() + interval '1 hour 1 second'`, ['I8']],
  ['never', 'null', ['I8']],
])('what waits for an endpoint that asked for an hour, and is looked at %s', async (_, dueAt, breaks) => {
  await run(`${anEndpoint};
    insert into webhooks.endpoint_queues (endpoint_key, open_until, new_due_at) values (9, now() + interval '1 hour', ${dueAt});
    insert into webhooks.deliveries (endpoint_key, sequence, state, due_at) values (9, 1, 'waiting', now())`);
  try {
    expect((await verify()).discrepancies.map(({ invariant }) => invariant)).toEqual(breaks);
  } finally {
    await run(
      'delete from webhooks.deliveries; delete from webhooks.endpoint_queues; delete from webhooks.endpoints',
    );
  }
});

test('discrepancies of one asset hide neither another’s nor, once they are known, each other', async () => {
  await run(`${noTriggers};
    insert into ledger.balances (account_id, asset, available) select 'acc_x' || n, 'ETH', 1 from generate_series(1, 250) as n;
    insert into ledger.balances (account_id, asset, available) values ('acc_2', 'SOL', 1)`);
  try {
    const ask = (known: { invariant: string; subject: string }[] = []) =>
      checkInvariants(snapshotOf(db, 10_000), invariants, { gracePeriodSeconds: 0, known });
    const named = await ask();
    expect(Map.groupBy(named, ({ asset }) => asset).get('ETH')).toHaveLength(101);
    expect(named.filter(({ isTheRest }) => isTheRest)).toMatchObject([
      { invariant: 'I2', asset: 'ETH', what: '150 more of ETH', amount: 150n, pausesPayouts: true },
    ]);
    expect(named.filter(({ asset }) => asset === 'SOL')).toMatchObject([{ subject: 'acc_2 SOL available' }]);
    const others = await ask(named);
    expect(others.filter(({ asset }) => asset === 'ETH')).toHaveLength(201);
    expect(others.find(({ isTheRest }) => isTheRest)).toMatchObject({ amount: 50n });
  } finally {
    await run(`delete from ledger.balances where account_id <> 'acc_1'`);
  }
});

test('money in motion is no discrepancy, however long its event is on the way', async () => {
  await run(`${noTriggers}; ${aSecondDeposit('settled')}; ${itsEvent};
    update invoices.deposits set settled_at = now() - interval '1 day' where id = 'dep_2';
    ${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x1', 30);
    update payouts.transactions set state = 'mined', amount = 30, block_height = 1, block_hash = '0xb';
    update payouts.payouts set status = 'mined', tx_hash = '0x9', completed_at = now(), updated_at = now() - interval '1 day';
    insert into payouts.outbox (id, kind, payload, sent_at) values ('evt_11', 'hold.settle', '{"payout_id":"7"}', now())`);
  try {
    const late = await verifyBooks({ databaseUrl: database.adminUrl, gracePeriodSeconds: 0 });
    expect([
      ...new Set(late.discrepancies.map(({ invariant, pausesPayouts }) => `${invariant} ${pausesPayouts}`)),
    ]).toEqual(['I7 false']);
    const patient = await verifyBooks({ databaseUrl: database.adminUrl, gracePeriodSeconds: 60 });
    expect(patient.discrepancies).toEqual([]);
  } finally {
    await run(`update payouts.payouts set status = 'reserved', tx_hash = null, completed_at = null;
      delete from payouts.payments; delete from payouts.transactions; delete from payouts.outbox;
      delete from invoices.outbox; delete from invoices.deposits where id = 'dep_2'`);
  }
  expect((await verify()).discrepancies).toEqual([]);
});

test.each(seededDiscrepancies)('%s', async (what, plant, heal, named) => {
  await run(`${noTriggers}; ${plant}`);
  try {
    const { discrepancies } = await verify();
    expect(discrepancies.map((discrepancy) => discrepancy.invariant)).toEqual(named);
    for (const { what, subject } of discrepancies)
      expect([what, subject]).toEqual(Array(2).fill(expect.stringMatching(/\w/)));
    // What is asked every minute raises the alarm as well: then every row is looked at.
    expect([what, (await recent()).length > 0]).toEqual([what, !leftToWholeChecks.has(what)]);
  } finally {
    await run(heal);
  }
  expect((await verify()).discrepancies).toEqual([]);
});
