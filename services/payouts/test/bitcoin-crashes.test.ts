import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { type BitcoindHandle, startBitcoind } from '@quittance/engines/bitcoind';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { publishQuotes, type Quote } from '@quittance/shared/quotes';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, SEED, TestBoard } from './service-client.ts';

/** The real process on a real Bitcoin node is killed between any two effects and started again: one payment, one end. */
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const CONFIRMATIONS = 2;
/** A machine that runs many suites at once starts a process slowly. */
const PATIENCE_MS = 60_000;
const STEP_MS = 150;

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let node: BitcoindHandle;
let ledger: ScriptedLedger;
let bus: Bus;
let db: Db;
let child: ChildProcess | undefined;
const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bitcoin-'));
const wallet = openBitcoinWallet('regtest', SEED);
const port = 21_000 + Math.floor(Math.random() * 9_000);
const shop = new Client(() => ({ port }));

jest.setTimeout(3 * PATIENCE_MS);

beforeAll(async () => {
  [database, nats, node] = await Promise.all([
    testDatabase(),
    testNats(),
    startBitcoind({ dataDir, port: 0 }),
  ]);
  const logger = createLogger('test', 'silent');
  [ledger, bus] = await Promise.all([
    scriptedLedger(nats.url),
    connectBus({ url: nats.url, service: 'invoices', logger }),
  ]);
  db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 2, logger });
});
afterEach(stop);
afterAll(async () => {
  await ledger?.close();
  await bus?.close();
  await db?.close();
  await nats?.stop();
  await node?.stop();
  rmSync(dataDir, { recursive: true, force: true });
  await database?.drop();
});

async function launch(crashAt?: string): Promise<void> {
  const board = new TestBoard();
  board.set('BTC', { network_fee: '2000', dust: '1000', min_confirmations: CONFIRMATIONS });
  await publishQuotes(bus, [board.latest('BTC') as Quote]);
  const settings = environment(database.urlOf('payouts'), nats.url);
  for (const name of Object.keys(settings)) if (name.startsWith('ETHEREUM_')) delete settings[name];
  child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...settings,
      PORT: String(port),
      BITCOIN_RPC_URL: node.rpcUrl,
      BITCOIN_NETWORK: 'regtest',
      ENGINE_EVERY_MS: '50',
      LOG_LEVEL: 'silent',
      ...(crashAt === undefined ? {} : { CRASH_AT: `${crashAt}:1` }),
    },
  });
}

async function start(crashAt?: string): Promise<void> {
  await launch(crashAt);
  await eventually(async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(await ready.json()).toEqual({ ready: true, waits_for: [] });
  }, PATIENCE_MS);
  // The quotes arrive a moment after the bus.
  await eventually(async () => {
    const { body } = await shop.post({ asset: 'BTC', amount: 0, address: '0x1' });
    expect(body.errors.amount).toEqual(['The amount must be at least 0.00001.']);
  });
}

async function stop(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function died({ mining = true } = {}): Promise<void> {
  await eventually(
    async () => {
      if (mining) await node.mine(1);
      expect(child?.signalCode).toBe('SIGKILL');
    },
    PATIENCE_MS,
    STEP_MS,
  );
  // What the dead process had taken for a while is free again.
  await db.rows(`update leases set expires_at = now() - interval '1 second'`);
  await db.rows(`update outbox set claimed_until = null where sent_at is null`);
}

let index = 0;
/** Bitcoins on a deposit address, of which the treasury hears over the bus. */
async function deposit(bitcoins: string): Promise<void> {
  index += 1;
  const address = wallet.address('deposit', index);
  const txHash = await node.pay(address, bitcoins);
  await node.mine(CONFIRMATIONS);
  type Output = { n: number; value: number; scriptPubKey: { address?: string } };
  const { vout } = await node.rpc<{ vout: Output[] }>('getrawtransaction', txHash, 1);
  const output = vout.find(({ scriptPubKey }) => scriptPubKey.address === address);
  const depositId = newDepositId(new Date());
  const payload = {
    deposit_id: depositId,
    account_id: shop.account,
    invoice_id: 'inv_test',
    asset: 'BTC',
    amount: `${bitcoins.replace('0.', '')}000000`,
    address,
    derivation_index: index,
    outpoint: `${txHash}:${output?.n}`,
    tx_hash: txHash,
    block_height: 1,
    block_hash: 'block',
    disposition: 'credit',
  };
  const body = { id: `evt_${depositId}`, kind: 'deposit.settled', created_at: '', request_id: null, payload };
  await bus.publish([{ kind: 'deposit.settled', dedupe: depositId, body: JSON.stringify(body) }]);
}

async function ask(to: string): Promise<PayoutId> {
  const key = `key ${to} ${Math.random()}`;
  await shop
    .post({ asset: 'BTC', amount: '0.01', address: to }, { 'idempotency-key': key })
    .catch(() => undefined);
  const row = await db.one<{ id: PayoutId }>(`select id from payouts order by seq desc limit 1`);
  return row.id;
}

async function ends(id: PayoutId): Promise<void> {
  await eventually(
    async () => {
      await node.mine(1);
      expect(await db.one('select status from payouts where id = $1', [id])).toEqual({ status: 'mined' });
    },
    PATIENCE_MS,
    STEP_MS,
  );
}

/** All unspent outputs of an address: nobody ever spends from these. */
async function paid(to: string): Promise<number[]> {
  type Scan = { unspents: { amount: number }[] };
  const { unspents } = await node.rpc<Scan>('scantxoutset', 'start', [`addr(${to})`]);
  return unspents.map(({ amount }) => amount);
}

async function expectPaidOnce(id: PayoutId, to: string): Promise<void> {
  expect(await paid(to)).toEqual([0.01]);
  await eventually(async () => {
    const rows = await db.rows<{ kind: string }>(
      `select kind from outbox where (payload->>'payout_id' = $1 or payload->>'resource_id' = $1) and sent_at is not null
       order by seq`,
      [id],
    );
    expect(rows.map((row) => row.kind)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });
  const [{ families, mined, spent } = { families: '', mined: '', spent: '' }] = await db.rows<{
    families: string;
    mined: string;
    spent: string;
  }>(
    `select count(distinct family) as families, count(*) filter (where state = 'mined') as mined,
       (select count(*) from outbox where kind = 'network.spent'
          and payload->>'tx_hash' in (select tx_hash from payouts where id = $1)) as spent
     from transactions join payments using (family) where payout_id = $1`,
    [id],
  );
  expect([families, mined, spent]).toEqual(['1', '1', '1']);
}

it.each([
  'payouts.reserved',
  'payouts.planned',
  'payouts.signing',
  'payouts.signed',
  'payouts.sent',
  'payouts.broadcast',
  'payouts.settling',
  'payouts.mined',
])('killed at %s: one transaction, one end', async (point) => {
  await start(point);
  await deposit('0.02');
  const to = wallet.address('deposit', 500_000 + index);
  const id = await ask(to);
  await died();
  await start();
  await ends(id);
  await expectPaidOnce(id, to);
  expect(
    await db.rows('select 1 from transactions join payments using (family) where payout_id = $1', [id]),
  ).toHaveLength(1);
});

it.each(['payouts.bumping', 'payouts.bumped'])(
  'killed at %s: one of the attempts is mined',
  async (point) => {
    await start(point);
    await deposit('0.02');
    const to = wallet.address('deposit', 500_000 + index);
    const id = await ask(to);
    const waiting = `select 1 from transactions join payments using (family)
    where payout_id = $1 and transactions.state = 'broadcast'`;
    await eventually(async () => expect(await db.rows(waiting, [id])).toHaveLength(1), PATIENCE_MS);
    await db.rows(
      `update transactions set first_broadcast_at = now() - interval '1 hour' where state = 'broadcast'`,
    );
    await died({ mining: false });
    await start();
    await eventually(async () => expect((await db.rows(waiting, [id])).length).toBe(2), PATIENCE_MS);
    await ends(id);
    await expectPaidOnce(id, to);
  },
);

it.each(['consumer.before_commit', 'consumer.after_commit'])(
  'killed at %s: a deposit is one coin',
  async (point) => {
    await start(point);
    await deposit('0.02');
    await died();
    await start();
    const to = wallet.address('deposit', 500_000 + index);
    const id = await ask(to);
    await ends(id);
    await expectPaidOnce(id, to);
    // What was not acknowledged comes again after a while.
    const coins = `select 1 from coins where branch = 'deposit' and derivation_index = $1`;
    await eventually(async () => expect(await db.rows(coins, [index])).toHaveLength(1), PATIENCE_MS);
  },
);

it('no coin was spent by two transactions in all of this', async () => {
  const rows = await db.rows<{ outpoint: string }>(
    `select coin->>'outpoint' as outpoint from transactions, jsonb_array_elements(terms->'coins') as coin
     where state = 'mined'`,
  );
  expect(rows.length).toBeGreaterThan(8);
  expect(new Set(rows.map(({ outpoint }) => outpoint)).size).toBe(rows.length);
});
