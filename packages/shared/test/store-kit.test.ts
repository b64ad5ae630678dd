import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { bulk, type Db, openDb, query, statement } from '../src/db.ts';
import { createLogger } from '../src/logger.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await testDatabase();
  db = openDb({
    url: database.adminUrl,
    schema: 'ledger',
    pool: 1,
    logger: createLogger('test', 'silent'),
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const amount = 10n ** 77n;
const at = new Date('2026-01-02T03:04:05.678Z');

test('a bulk statement writes rows by their column map, and a query reads them back as they were', async () => {
  type Row = { id: string; networkFee: bigint | null; isPaid: boolean; paidAt: Date | null; tags: unknown };
  const rows = bulk({
    id: 'payment_id text',
    networkFee: 'numeric',
    isPaid: 'bool',
    paidAt: 'timestamptz',
    tags: 'jsonb',
  });
  const given = [
    { id: 'b', networkFee: amount, isPaid: true, paidAt: at, tags: '{"is_it":1}' },
    { id: 'a', networkFee: null, isPaid: false, paidAt: null, tags: '[]' },
  ];
  const written = await db.transaction(async (trx) => {
    await trx.rows(
      'create temp table payments (payment_id text, network_fee numeric(78,0), is_paid bool, paid_at timestamptz, tags jsonb) on commit drop',
    );
    await trx.rows(statement('payments_insert', rows.insertInto('payments')), rows.values(given));
    const select = query<Row>(
      'payments_select',
      'select payment_id as id, network_fee, is_paid, paid_at, tags from payments order by 1',
    );
    expect(await trx.rows(statement('payments_raw', 'select network_fee from payments order by 1'))).toEqual([
      { network_fee: amount.toString() },
      { network_fee: null },
    ]);
    return await trx.rows(select);
  });
  expect(written).toEqual([
    { id: 'a', networkFee: null, isPaid: false, paidAt: null, tags: [] },
    { id: 'b', networkFee: amount, isPaid: true, paidAt: at, tags: { is_it: 1 } },
  ]);
});

test('a bulk statement numbers its rows and begins at the parameter that it is given', async () => {
  const rows = bulk({ name: 'text' }, 2);
  const found = await db.rows(
    query('numbered', `select $1::int as first, name, n::int from ${rows.numbered('given', 'n')} order by n`),
    [7, ...rows.values([{ name: 'x' }, { name: 'y' }])],
  );
  expect(found).toEqual([
    { first: 7, name: 'x', n: 1 },
    { first: 7, name: 'y', n: 2 },
  ]);
});

test('a query reads whole numerics as bigint and those with decimals as text', async () => {
  const select = query(
    'numerics',
    `select 12::numeric as whole, -3::numeric as below, 1.50::numeric(4,2) as rate`,
  );
  expect(await db.one(select)).toEqual({ whole: 12n, below: -3n, rate: '1.50' });
});

test('a statement for one row takes scalars of the same columns', async () => {
  const rows = bulk({ id: 'payment_id text', networkFee: 'numeric', paidAt: 'timestamptz' });
  const select = query(
    'payments_one',
    `select payment_id as id, network_fee, paid_at from ${rows.fromOne('given')}`,
  );
  const row = { id: 'a', networkFee: amount, paidAt: at };
  expect(await db.one(select, rows.valuesOfOne(row))).toEqual(row);
});
