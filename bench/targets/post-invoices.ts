import { newEventId, newInvoiceId } from '@quittance/shared/ids';
import pg from 'pg';
import type { Benchmark } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { processesOf } from '../lab.ts';

const CLIENTS = 32;
const CONNECTIONS = 16;
const SECONDS = 3;

export const postInvoices: Benchmark = {
  name: 'invoices',
  what: 'POST /api/invoices end to end through the gateway, 32 clients.',
  yardstick: 'the bare insert of the same rows by pg, one prepared statement, the same clients',
  target: { atLeast: 0.3 },
  unit: 'requests/s',
  async setUp(lab) {
    const quittance = await lab.quittance();
    const shop = await quittance.merchant();
    const order = { asset: 'ETH', amount: 25, external_id: 'bench' };
    const pool = new pg.Pool({ connectionString: quittance.stack.adminUrl, max: CONNECTIONS });
    const made = await shop.post('/api/invoices', order);
    const insert = await sameRows(pool, made.body.data.id);
    const post = async () => {
      const answer = await shop.post('/api/invoices', order);
      if (answer.status !== 201) throw new Error(`POST /api/invoices answers ${answer.status}`);
    };
    return {
      ours: () => drive(post, CLIENTS, SECONDS),
      theirs: () => drive(insert, CLIENTS, SECONDS),
      close: () => pool.end(),
      processes: processesOf(quittance),
    };
  },
};

type Row = Record<string, unknown>;

/** An insert of rows like those that the API wrote, with ids of their own, into tables with the same columns and indexes. */
async function sameRows(pool: pg.Pool, invoiceId: string): Promise<() => Promise<void>> {
  const row = async (sql: string): Promise<Row> => (await pool.query(sql, [invoiceId])).rows[0] as Row;
  const invoice = await row('select * from invoices.invoices where id = $1');
  const address = await row('select * from invoices.addresses where invoice_id = $1');
  const event = await row(
    `select id, kind, payload, request_id from invoices.outbox where payload->>'resource_id' = $1`,
  );
  await pool.query(`
    drop schema if exists bench cascade;
    create schema bench;
    create table bench.invoices (like invoices.invoices including all);
    create table bench.addresses (like invoices.addresses including all);
    create table bench.outbox (like invoices.outbox including all)`);

  const rows = { invoices: invoice, addresses: address, outbox: event };
  let next = 1;
  const inserts = Object.entries(rows).map(([table, values]) => {
    const columns = Object.keys(values);
    return `insert into bench.${table} (${columns.join(', ')}) values (${columns.map(() => `$${next++}`).join(', ')})`;
  });
  const text = `with i as (${inserts[0]}), a as (${inserts[1]}) ${inserts[2]}`;
  const plain = (value: unknown) =>
    value !== null && typeof value === 'object' && !(value instanceof Date) && !Array.isArray(value)
      ? JSON.stringify(value)
      : value;
  return async () => {
    const now = new Date();
    const id = newInvoiceId(now);
    const values = [
      { ...invoice, id, address: id },
      { ...address, invoice_id: id, address: id },
      { ...event, id: newEventId(now) },
    ].flatMap((one) => Object.values(one).map(plain));
    await pool.query({ name: 'yardstick', text, values });
  };
}
