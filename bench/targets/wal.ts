import { randomBytes } from 'node:crypto';
import { newInvoiceId } from '@quittance/shared/ids';
import pg from 'pg';
import type { Benchmark, Sample } from '../benchmark.ts';

/** As many that each insert at a random place finds a page that no insert before it has touched since the checkpoint. */
const ROWS = 400_000;
const INSERTS = 400;

export const walOfInvoices: Benchmark = {
  name: 'wal',
  what: 'Write-ahead log of an inserted invoice after a checkpoint, in a table of 400,000 with the key and the columns of ours. `POST`: bytes that the whole of POST /api/invoices writes, in all services.',
  yardstick: 'the same with random keys',
  target: { atMost: 0.35 },
  unit: 'bytes',
  rounds: 3,
  warmUp: false,
  async setUp(lab) {
    const quittance = await lab.quittance();
    const { adminUrl } = quittance.stack;
    const pool = new pg.Pool({ connectionString: adminUrl, max: 2 });
    const shop = await quittance.merchant();
    const order = { asset: 'ETH', amount: 25, external_id: 'bench' };
    const { id } = (await shop.post('/api/invoices', order)).body.data;
    const row = (await pool.query('select * from invoices.invoices where id = $1', [id])).rows[0] as object;
    const json = JSON.stringify(row);
    const tables = { ordered: 'bench_wal.ordered', random: 'bench_wal.random' };
    await pool.query('drop schema if exists bench_wal cascade; create schema bench_wal');
    for (const [keys, table] of Object.entries(tables)) {
      const key =
        keys === 'ordered'
          ? `'inv_' || translate(to_char(n, 'FM000000000000000000000000000'), ' ', '0')`
          : `'inv_' || md5(n::text)`;
      await pool.query(`create table ${table} (like invoices.invoices including defaults, primary key (id))`);
      await pool.query(
        `insert into ${table} select copy.* from generate_series(1, ${ROWS}) as n,
           jsonb_populate_record(null::${table}, $1::jsonb || jsonb_build_object('id', ${key})) as copy`,
        [json],
      );
    }
    await pool.query('vacuum analyze');
    const insert = (table: string, newId: () => string) => () =>
      pool.query({
        name: `insert ${table}`,
        text: `insert into ${table} select (jsonb_populate_record(null::${table}, $1::jsonb || jsonb_build_object('id', $2::text))).*`,
        values: [json, newId()],
      });
    const post = async () => {
      const answer = await shop.post('/api/invoices', order);
      if (answer.status !== 201) throw new Error(`POST /api/invoices answers ${answer.status}`);
    };
    return {
      async ours() {
        const sample = await walPer(
          pool,
          insert(tables.ordered, () => newInvoiceId(new Date())),
        );
        const whole = await walPer(pool, post);
        return { ...sample, more: { POST: whole.figure } };
      },
      theirs: () =>
        walPer(
          pool,
          insert(tables.random, () => `inv_${randomBytes(16).toString('hex')}`),
        ),
      async close() {
        await pool.query('drop schema bench_wal cascade');
        await pool.end();
      },
    };
  },
};

/** Bytes of write-ahead log for each of some inserts, the first after a checkpoint. */
async function walPer(pool: pg.Pool, once: () => Promise<unknown>): Promise<Sample> {
  await pool.query('checkpoint');
  const position = async () =>
    (await pool.query<{ at: string }>('select pg_current_wal_insert_lsn() as at')).rows[0]?.at ?? '';
  const from = await position();
  for (let i = 0; i < INSERTS; i++) await once();
  const { rows } = await pool.query<{ bytes: number }>('select pg_wal_lsn_diff($1, $2)::float8 as bytes', [
    await position(),
    from,
  ]);
  return { figure: (rows[0]?.bytes ?? 0) / INSERTS, operations: INSERTS };
}
