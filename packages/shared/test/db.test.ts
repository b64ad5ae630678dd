import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { startFaultProxy } from '@quittance/testkit/fault-proxy';
import { localPort } from '@quittance/testkit/local-port';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { bulk, openDb, type Queryable, query, statement } from '../src/db.ts';
import { isDatabaseDown, UnknownOutcome } from '../src/db-errors.ts';
import { createLogger } from '../src/logger.ts';

const logger = createLogger('test', 'silent');
const database = await suiteDatabase();
const admin = database.openAsAdmin('ledger', { pool: 1 });

const pidOf = async (db: Queryable) => (await db.one<{ pid: number }>('select pg_backend_pid() as pid')).pid;

const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);

/** A connection to the database that a test can silence and cut. */
async function fragile(answerWithinMs?: number) {
  const proxy = await startFaultProxy(database.urlOf('ledger'));
  const limit = answerWithinMs === undefined ? {} : { answerWithinMs };
  const db = openDb({ url: proxy.url, schema: 'ledger', pool: 1, logger, ...limit });
  database.finally(() => proxy.close());
  database.finally(() => db.close());
  return { proxy, db };
}

test('a database that vanishes without a word is noticed, and its connection is not used again', async () => {
  const { proxy, db } = await fragile(500);
  const pids = new Set<number>();
  const inTransaction = db.transaction(async (trx) => {
    pids.add(await pidOf(trx));
    proxy.set({ kind: 'black hole' });
    await trx.rows('select 1');
  });
  expect(isDatabaseDown(await inTransaction.catch((error: unknown) => error))).toBe(true);
  proxy.set({ kind: 'pass' });
  pids.add(await pidOf(db));

  proxy.set({ kind: 'black hole' });
  expect(isDatabaseDown(await db.rows('select 2').catch((error: unknown) => error))).toBe(true);
  proxy.set({ kind: 'pass' });
  pids.add(await pidOf(db));
  expect(pids.size).toBe(3);
});

test('a connection that breaks between two statements of a transaction fails it, and nothing else', async () => {
  const { proxy, db } = await fragile();
  const inTransaction = db.transaction(async (trx) => {
    await trx.rows('select 1');
    proxy.cut();
    // Nobody waits for an answer when the end of the connection is heard.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await trx.rows('select 2');
  });
  expect(isDatabaseDown(await inTransaction.catch((error: unknown) => error))).toBe(true);
  expect(await db.one('select 3 as n')).toEqual({ n: 3 });
});

test.each(['before', 'after'] as const)(
  'the outcome of a commit and of a write is unknown when the connection is cut %s it is done',
  async (when) => {
    const { proxy, db } = await fragile();
    const stored = async () => (await admin.one<{ n: number }>('select count(*)::int as n from written')).n;
    await admin.rows('create table if not exists written (n int); delete from written');
    const insert = statement('insert_written', 'insert into written values (1)');
    await db.rows('select 1');
    proxy.set({ kind: 'cut commits', when, share: 1 });
    const commit = await failure(db.transaction((trx) => trx.rows(insert)));
    const write = await failure(db.rows(insert));
    for (const unknown of [commit, write]) {
      expect(unknown).toBeInstanceOf(UnknownOutcome);
      expect(isDatabaseDown(unknown)).toBe(true);
    }
    expect(await stored()).toBe(when === 'after' ? 2 : 0);
  },
);

test('the outcome of a write is known when it was refused or never sent', async () => {
  const { proxy, db } = await fragile();
  expect(await failure(db.rows('insert into nowhere values (1)'))).not.toBeInstanceOf(UnknownOutcome);
  proxy.set({ kind: 'refuse' });
  const inTransaction = db.transaction((trx) => trx.rows('select 1'));
  expect(await failure(inTransaction)).not.toBeInstanceOf(UnknownOutcome);
  const nobody = openDb({ url: 'postgres://anybody:any@127.0.0.1:1/any', schema: 'ledger', pool: 1, logger });
  database.finally(() => nobody.close());
  expect(await failure(nobody.rows('insert into written values (1)'))).not.toBeInstanceOf(UnknownOutcome);
});

/** A Postgres that takes a client in and ends its connection in the same breath. */
async function farewell(): Promise<{ url: string; close(): void }> {
  const message = (type: string, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command'];
  const welcomeAndFarewell = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from(`${fields.join('\0')}\0\0`)),
  ]);
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.once('data', () => client.end(welcomeAndFarewell));
  });
  const port = await localPort(server);
  return { url: `postgres://anybody:any@127.0.0.1:${port}/any`, close: () => void server.close() };
}

test('a connection that ends before its transaction has begun fails it, and nothing else', async () => {
  const postgres = await farewell();
  const db = openDb({ url: postgres.url, schema: 'ledger', pool: 2, logger });
  try {
    const ended = () => db.transaction((trx) => trx.rows('select 1')).catch((error: unknown) => error);
    for (const failure of await Promise.all([ended(), ended(), ended()]))
      expect(isDatabaseDown(failure)).toBe(true);
    expect(isDatabaseDown(await db.rows('select 2').catch((error: unknown) => error))).toBe(true);
  } finally {
    await db.close();
    postgres.close();
  }
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
  const written = await admin.transaction(async (trx) => {
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
  const found = await admin.rows(
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
  expect(await admin.one(select)).toEqual({ whole: 12n, below: -3n, rate: '1.50' });
});

test('a statement for one row takes scalars of the same columns', async () => {
  const rows = bulk({ id: 'payment_id text', networkFee: 'numeric', paidAt: 'timestamptz' });
  const select = query(
    'payments_one',
    `select payment_id as id, network_fee, paid_at from ${rows.fromOne('given')}`,
  );
  const row = { id: 'a', networkFee: amount, paidAt: at };
  expect(await admin.one(select, rows.valuesOfOne(row))).toEqual(row);
});
