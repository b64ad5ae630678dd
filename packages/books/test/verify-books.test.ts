import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { verifyBooks } from '../src/verify-books.ts';

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

const noTriggers = 'set session_replication_role = replica';

beforeAll(async () => {
  database = await testDatabase();
  db = openDb({ url: database.adminUrl, schema: 'public', pool: 1, logger: createLogger('test', 'silent') });
  await run(rightBooks);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

async function run(sql: string): Promise<void> {
  for (const one of sql.split(';')) if (one.trim() !== '') await db.rows(one);
}

const verify = () => verifyBooks({ databaseUrl: database.adminUrl, patienceSeconds: 0 });

test('right books have no breach', async () => {
  const report = await verify();
  expect(report.breaches).toEqual([]);
  expect(report.checked).toMatchObject({ transfers: 2, entries: 4, balances: 1, payouts: 1, deposits: 1 });
});

/** What is planted, what takes it away again, and the invariants that must name it. */
const planted: [string, string, string, string[]][] = [
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
];

test.each(planted)('%s', async (_, plant, heal, invariants) => {
  await run(`${noTriggers}; ${plant}`);
  try {
    const { breaches } = await verify();
    expect(breaches.map((breach) => breach.invariant)).toEqual(invariants);
    for (const { what } of breaches) expect(what).toMatch(/\w+/);
  } finally {
    await run(heal);
  }
  expect((await verify()).breaches).toEqual([]);
});
