import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { invariants } from '../src/invariants.ts';
import { snapshotOf } from '../src/snapshot.ts';
import { checkInvariants, verifyBooks } from '../src/verify-books.ts';

/** A small set of right books, then one thing wrong at a time: each must be named, and nothing else. */

let database: TestDatabase;
let db: Db;

const rightBooks = `
  insert into ledger.balances (account_id, asset, available, held) values ('acc_1', 'ETH', 60, 40);
  insert into ledger.transfers (op, kind, account_id, asset, amount) values
    ('deposit:dep_1', 'deposit', 'acc_1', 'ETH', 100), ('hold:7', 'hold', 'acc_1', 'ETH', 30);
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, 'acc_1', 'available', 'ETH', 100 from ledger.transfers where op = 'deposit:dep_1' union all
    select seq, null, 'custody', 'ETH', -100 from ledger.transfers where op = 'deposit:dep_1' union all
    select seq, 'acc_1', 'available', 'ETH', -40 from ledger.transfers where op = 'hold:7' union all
    select seq, 'acc_1', 'held', 'ETH', 40 from ledger.transfers where op = 'hold:7';
  insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state)
    values ('7', 'acc_1', 'ETH', 30, 10, 'placed');
  insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status)
    values (1, 7, 'acc_1', 'ETH', 30, 10, '0x1', 3, 'reserved');
  insert into invoices.invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due,
      min_confirmations, dust, status, created_at, paid_at, address, derivation_index)
    values ('inv_1', 'acc_1', 'ETH', 'ethereum', 1000, 10, '{}', 100, 3, 1, 'paid', now(), now(), '0xa', 0);
  insert into invoices.deposits (id, chain, outpoint, invoice_id, asset, address, derivation_index, amount,
      output_index, block_height, block_hash, first_seen_at, min_confirmations, state, settled_at, disposition)
    values ('dep_1', 'ethereum', '0xt:0', 'inv_1', 'ETH', '0xa', 0, 100, 0, 1, '0xb', now(), 3, 'settled',
      now(), 'credit');
  insert into webhooks.accounts (account_id, last_sequence) values ('acc_1', 2);
  insert into webhooks.events (account_id, sequence, id, kind, created_at, resource_id, version, data)
    values ('acc_1', 1, 'evt_1', 'invoice.created', now(), 'inv_1', 1, '{}'),
           ('acc_1', 2, 'evt_2', 'invoice.paid', now(), 'inv_1', 2, '{}');
  insert into ledger.outbox (id, kind, payload) values ('evt_9', 'credit.recorded', '{}');
  insert into invoices.inbox (event_id) values ('evt_9')`;

const aTransaction = `insert into payouts.transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
    min_confirmations, raw, tx_hash, fence) overriding system value
  values (1, 1, 'ethereum', '0xhot', 0, 'payout', 'ETH', 30, 1, 3, 'bytes', '0x9', 1)`;
const aSecondDeposit = (state: string) => `insert into invoices.deposits
  select 'dep_2' as id, chain, '0xt:1' as outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
    output_index, block_height, block_hash, first_seen_at, min_confirmations, '${state}' as state,
    ${state === 'missing' ? '5' : 'dropped_height'}, due_height, confirmed_at, settled_at, disposition, credited_at, reversed_at
  from invoices.deposits where id = 'dep_1'`;
const itsCredit = `insert into ledger.transfers (op, kind, account_id, asset, amount)
    values ('deposit:dep_2', 'deposit', 'acc_1', 'ETH', 100);
  insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
    select seq, 'acc_1', 'available', 'ETH', 100 from ledger.transfers where op = 'deposit:dep_2' union all
    select seq, null, 'custody', 'ETH', -100 from ledger.transfers where op = 'deposit:dep_2';
  update ledger.balances set available = available + 100`;
const itsCreditIsMissing = `update ledger.balances set available = available - 100;
  delete from ledger.entries where transfer_seq = (select seq from ledger.transfers where op = 'deposit:dep_2');
  delete from ledger.transfers where op = 'deposit:dep_2'`;
const itsEvent = `insert into invoices.outbox (id, kind, payload)
    values ('evt_10', 'deposit.settled', '{"deposit_id":"dep_2","asset":"ETH"}');
  insert into payouts.inbox (event_id) values ('evt_10') on conflict do nothing`;
const anEndpoint = `insert into webhooks.endpoints (key, id, account_id, url, event_types, created_at) overriding system value
  values (9, 'whe_9', 'acc_1', 'https://x', '{}', now())`;

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

/** What is seeded, what takes it away again, and the invariants that must name it. */
const seeded: [string, string, string, string[]][] = [
  [
    'an entry changed by one unit',
    `update ledger.entries set amount = amount + 1 where bucket = 'custody'`,
    `update ledger.entries set amount = amount - 1 where bucket = 'custody'`,
    ['I1'],
  ],
  [
    'a transfer without entries',
    `insert into ledger.transfers (op, kind, account_id, asset, amount) values ('hold:8', 'hold', 'acc_1', 'ETH', 1)`,
    `delete from ledger.transfers where op = 'hold:8'`,
    ['I1'],
  ],
  [
    'a balance changed by one unit',
    'update ledger.balances set available = available + 1',
    'update ledger.balances set available = available - 1',
    ['I2'],
  ],
  [
    'a hold that nothing is held for',
    `update ledger.holds set amount = amount + 5; update payouts.payouts set amount = amount + 5`,
    `update ledger.holds set amount = amount - 5; update payouts.payouts set amount = amount - 5`,
    ['I3'],
  ],
  [
    'a mined payout without a transaction, its hold still open',
    `update payouts.payouts set status = 'mined', tx_hash = '0x1', completed_at = now()`,
    `update payouts.payouts set status = 'reserved', tx_hash = null, completed_at = null`,
    ['I4', 'I4'],
  ],
  [
    'a payout of another amount than its hold',
    'update payouts.payouts set amount = amount + 1',
    'update payouts.payouts set amount = amount - 1',
    ['I4'],
  ],
  [
    'a deposit that was never booked',
    `insert into invoices.deposits select 'dep_2' as id, chain, '0xt:1' as outpoint, invoice_id, asset, address,
       derivation_index, amount, tx_hash, output_index, block_height, block_hash, first_seen_at, min_confirmations,
       state, dropped_height, due_height, confirmed_at, settled_at, disposition, credited_at, reversed_at
     from invoices.deposits where id = 'dep_1'`,
    `delete from invoices.deposits where id = 'dep_2'`,
    ['I5'],
  ],
  [
    'a credit of another amount than the deposit',
    `update invoices.deposits set amount = amount - 1`,
    `update invoices.deposits set amount = amount + 1`,
    ['I5'],
  ],
  [
    'a credit without a deposit',
    `update invoices.deposits set id = 'dep_x'`,
    `update invoices.deposits set id = 'dep_1'`,
    ['I5', 'I5'],
  ],
  [
    'an event that did not arrive',
    `delete from invoices.inbox`,
    `insert into invoices.inbox (event_id) values ('evt_9')`,
    ['I7'],
  ],
  [
    'a gap in an account’s events',
    `update webhooks.events set sequence = 5 where id = 'evt_2'`,
    `update webhooks.events set sequence = 2 where id = 'evt_2'`,
    ['I8'],
  ],
  [
    'an account whose first events are gone',
    `update webhooks.events set account_id = 'acc_9' where id = 'evt_1'`,
    `update webhooks.events set account_id = 'acc_1' where id = 'evt_1'`,
    ['I8'],
  ],
  [
    'an account all of whose events are gone',
    `update webhooks.events set account_id = 'acc_9'`,
    `update webhooks.events set account_id = 'acc_1'`,
    ['I8'],
  ],
  [
    'an event that was pruned and is there',
    `update webhooks.accounts set pruned_through = 1`,
    `update webhooks.accounts set pruned_through = 0`,
    ['I8'],
  ],
  [
    'an entry of another account',
    `update ledger.entries set account_id = 'acc_2' where bucket = 'held'`,
    `update ledger.entries set account_id = 'acc_1' where bucket = 'held'`,
    ['I1', 'I2', 'I2'],
  ],
  [
    'a balance below zero',
    `alter table ledger.balances drop constraint balances_available_not_negative;
     update ledger.balances set available = available - 61`,
    `update ledger.balances set available = available + 61; alter table ledger.balances
       add constraint balances_available_not_negative check (available >= 0)`,
    ['I2', 'I3'],
  ],
  [
    'a deposit that waits for a decision, and is in no balance',
    `insert into ledger.unresolved (deposit_id, account_id, asset, amount) values ('dep_7', 'acc_1', 'ETH', 5)`,
    `delete from ledger.unresolved`,
    ['I3'],
  ],
  [
    'a hold for a payout that does not exist',
    `insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state, ended_at)
       values ('8', 'acc_1', 'ETH', 1, 1, 'settled', now())`,
    `delete from ledger.holds where payout_id = '8'`,
    ['I4'],
  ],
  [
    'a transaction signed for more than its payouts',
    `${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x1', 30);
     update payouts.payouts set status = 'signed'; update payouts.transactions set amount = 31`,
    `update payouts.payouts set status = 'reserved'; delete from payouts.payments; delete from payouts.transactions`,
    ['I4'],
  ],
  [
    'a payment to another address than its payout',
    `${aTransaction}; insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '0x2', 30);
     update payouts.payouts set status = 'signed'`,
    `update payouts.payouts set status = 'reserved'; delete from payouts.payments; delete from payouts.transactions`,
    ['I4'],
  ],
  [
    'an outpoint that is credited twice',
    `${aSecondDeposit('missing')}; update invoices.deposits set outpoint = '0xt:0', dropped_height = 5 where id = 'dep_2';
     ${itsCredit}`,
    `${itsCreditIsMissing}; delete from invoices.deposits where id = 'dep_2'`,
    ['I5'],
  ],
  [
    'a deposit that its chain took back, and whose credit stands',
    `update invoices.deposits set state = 'reversed', reversed_at = now()`,
    `update invoices.deposits set state = 'settled', reversed_at = null`,
    ['I5'],
  ],
  [
    'a reversal of a deposit that is there',
    `insert into ledger.transfers (op, kind, account_id, asset, amount) values ('reversal:dep_1', 'reversal', 'acc_1', 'ETH', 5);
     insert into ledger.entries (transfer_seq, bucket, asset, amount)
       select seq, bucket, 'ETH', by from ledger.transfers, (values ('loss', -5), ('custody', 5)) as side(bucket, by)
       where op = 'reversal:dep_1'`,
    `delete from ledger.entries where bucket = 'loss' or (bucket = 'custody' and amount = 5);
     delete from ledger.transfers where op = 'reversal:dep_1'`,
    ['I5'],
  ],
  [
    'an event that is a dead letter, with its deposit',
    `${aSecondDeposit('settled')}; ${itsEvent}; insert into ledger.dead_letters (event_id, kind, envelope, failure)
       values ('evt_10', 'deposit.settled', '{}', 'unreadable')`,
    `delete from ledger.dead_letters; delete from invoices.outbox; delete from invoices.deposits where id = 'dep_2';
     delete from payouts.inbox`,
    ['I5', 'I7'],
  ],
  [
    'a delivery that nobody will send',
    `${anEndpoint}; insert into webhooks.deliveries (endpoint_key, sequence, state, due_at) values (9, 1, 'waiting', now())`,
    `delete from webhooks.deliveries; delete from webhooks.endpoints`,
    ['I8'],
  ],
  [
    'a delivery in a queue that no claim looks at',
    `${anEndpoint}; insert into webhooks.endpoint_queues (endpoint_key) values (9);
     insert into webhooks.deliveries (endpoint_key, sequence, state, due_at)
       values (9, 1, 'waiting', now() - interval '1 hour')`,
    `delete from webhooks.deliveries; delete from webhooks.endpoint_queues; delete from webhooks.endpoints`,
    ['I8'],
  ],
  [
    'a retry in a queue that claims look at for new deliveries only',
    `${anEndpoint}; insert into webhooks.endpoint_queues (endpoint_key, new_due_at) values (9, now());
     insert into webhooks.deliveries (endpoint_key, sequence, state, due_at, attempts) values
       (9, 1, 'waiting', now() - interval '1 hour', 1), (9, 2, 'waiting', now() - interval '1 hour', 0)`,
    `delete from webhooks.deliveries; delete from webhooks.endpoint_queues; delete from webhooks.endpoints`,
    ['I8'],
  ],
  [
    'a delivery that was claimed long ago',
    `${anEndpoint}; insert into webhooks.deliveries (endpoint_key, sequence, state, due_at, claim, claimed_until)
       values (9, 1, 'sending', now(), gen_random_uuid(), now() - interval '10 minutes')`,
    `delete from webhooks.deliveries; delete from webhooks.endpoints`,
    ['I8'],
  ],
  [
    'an event without a delivery',
    `${anEndpoint}; update webhooks.endpoints set created_at = now() - interval '1 day', event_types = '{invoice.paid}'`,
    `delete from webhooks.endpoints`,
    ['I8'],
  ],
  [
    'a deposit that is being returned by nobody',
    `insert into ledger.unresolved (deposit_id, account_id, asset, amount, state, payout_id)
       values ('dep_7', 'acc_1', 'ETH', 5, 'returning', '99')`,
    `delete from ledger.unresolved`,
    ['I10'],
  ],
  [
    'a deposit that is being swept by nothing',
    `${aTransaction}; update payouts.transactions set state = 'invalidated', purpose = 'sweep', swept_address = '0xa';
     insert into payouts.unswept_deposits (deposit_id, chain, address, derivation_index, asset, amount, state, sweep_id)
       values ('dep_1', 'ethereum', '0xa', 0, 'ETH', 100, 'sweeping', 1)`,
    `delete from payouts.unswept_deposits; delete from payouts.transactions`,
    ['I10'],
  ],
  [
    'a coin that is locked for nothing',
    `${aTransaction}; update payouts.transactions set state = 'invalidated';
     insert into payouts.utxos (outpoint, chain, address, branch, derivation_index, amount, state, locked_by)
       values ('t:0', 'bitcoin', 'bc1', 'hot', 0, 100, 'locked', 1)`,
    `delete from payouts.utxos; delete from payouts.transactions`,
    ['I10'],
  ],
  [
    'write-offs that are not booked',
    `insert into ledger.write_offs (account_id, asset, outpoint, amount_left) values ('acc_1', 'ETH', '0xt:0', 3)`,
    `delete from ledger.write_offs`,
    ['I10'],
  ],
  [
    'a payout that was never decided',
    `update payouts.payouts set status = 'requested', created_at = now() - interval '1 hour';
     update ledger.holds set state = 'refused'; update ledger.balances set held = 0, available = 100;
     delete from ledger.entries where transfer_seq = 2; delete from ledger.transfers where seq = 2`,
    `update payouts.payouts set status = 'reserved'; update ledger.holds set state = 'placed';
     update ledger.balances set held = 40, available = 60;
     insert into ledger.transfers (seq, op, kind, account_id, asset, amount) overriding system value
       values (2, 'hold:7', 'hold', 'acc_1', 'ETH', 30);
     insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
       values (2, 'acc_1', 'available', 'ETH', -40), (2, 'acc_1', 'held', 'ETH', 40)`,
    ['I10'],
  ],
  [
    'a reversal that is not booked',
    `update invoices.deposits set state = 'reversed', reversed_at = now();
     insert into ledger.reversals (deposit_id, account_id, asset, amount, created_at)
       values ('dep_1', 'acc_1', 'ETH', 100, now() - interval '1 day')`,
    `delete from ledger.reversals; update invoices.deposits set state = 'settled', reversed_at = null`,
    ['I10'],
  ],
];

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

test.each(seeded)('%s', async (what, plant, heal, named) => {
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
