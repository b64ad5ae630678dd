// The simplest honest way to take payouts with what npm has: express, a transaction of pg that reserves the amount and stores
// the payout, a job of BullMQ for who sends it, and one for the merchant's webhook. DATABASE_URL, REDIS_PORT, PORT, HOOK_URL.
import { createHash } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import express from 'express';
import pg from 'pg';
import { signAndPost } from './sign-and-post.mjs';

const { DATABASE_URL, REDIS_PORT, PORT, HOOK_URL } = process.env;
const connection = { host: '127.0.0.1', port: Number(REDIS_PORT), maxRetriesPerRequest: null };
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 16 });
const queue = new Queue('payouts', { connection });
const hooks = new Queue('hooks', { connection });

await pool.query(`
  create table if not exists simple_accounts (
    id text primary key, token_hash text unique not null, available numeric(78, 0) not null check (available >= 0));
  create table if not exists simple_payouts (
    id bigint generated always as identity primary key, account_id text not null references simple_accounts, asset text not null,
    amount numeric(78, 0) not null, address text not null, status text not null default 'pending',
    created_at timestamptz not null default now());
  create index if not exists simple_payouts_of on simple_payouts (account_id, id desc)`);

const app = express();
app.use(express.json());
app.post('/api/payouts', async (req, res) => {
  const token = String(req.headers.authorization ?? '').replace('Bearer ', '');
  const hash = createHash('sha256').update(token).digest('hex');
  const { asset, amount, address } = req.body;
  if (asset !== 'ETH' || !/^\d+(\.\d{1,18})?$/.test(amount) || !/^0x[0-9a-f]{40}$/i.test(address))
    return res.status(422).json({ message: 'invalid' });
  const [whole, part = ''] = amount.split('.');
  const units = BigInt(whole + part.padEnd(18, '0'));
  const client = await pool.connect();
  let id;
  try {
    await client.query('begin');
    const account = await client.query({
      name: 'reserve',
      text: `update simple_accounts set available = available - $2 where token_hash = $1 and available >= $2 returning id`,
      values: [hash, units.toString()],
    });
    if (account.rowCount === 0) {
      await client.query('rollback');
      return res.status(400).json({ message: 'insufficient balance' });
    }
    const made = await client.query({
      name: 'insert',
      text: `insert into simple_payouts (account_id, asset, amount, address) values ($1, $2, $3, $4) returning id`,
      values: [account.rows[0].id, asset, units.toString(), address],
    });
    id = made.rows[0].id;
    await client.query('commit');
  } catch (error) {
    // Of a connection that broke nothing is left to roll back.
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
  await queue.add('send', { id });
  await hooks.add('created', {
    id,
    url: HOOK_URL,
    secret: 'whsec_YWFh',
    body: JSON.stringify({ id, status: 'pending' }),
  });
  return res.status(201).json({ data: { id: Number(id) } });
});
// Sending to a chain is not a part of the measurement, here or there: the job waits for its turn.
const worker = new Worker('hooks', (job) => signAndPost(job.data), { connection, concurrency: 32 });
worker.on('error', (error) => process.stderr.write(`${error}\n`));
app.listen(Number(PORT), '127.0.0.1', () => process.stdout.write('ready\n'));
process.on('SIGTERM', () => process.exit(0));
