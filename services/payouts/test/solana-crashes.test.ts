import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { connectRpc, type Rpc } from '@quittance/chains/json-rpc';
import { openWallet } from '@quittance/chains/solana/wallet';
import { type SurfpoolHandle, startSurfpool } from '@quittance/engines/surfpool';
import { payOnSolana, prepareSolana } from '@quittance/sandbox/solana';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { publishQuotes, type Quote } from '@quittance/shared/quotes';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, SEED, TestBoard } from './service-client.ts';

/**
 * The real process on a real Solana node is killed at each of its named points and started again. Whatever it was
 * doing, it ends once. Its Ethereum node is away all the time, which is no concern of Solana's.
 */
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SLOT_MS = 20;
const SOL = 10n ** 9n;
const DOLLAR = 1_000_000n;
const PATIENCE_MS = 60_000;
const STEP_MS = 100;

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let node: SurfpoolHandle;
let rpc: Rpc;
let usdcMint: string;
let ledger: ScriptedLedger;
let bus: Bus;
let db: Db;
let customer: ReturnType<typeof solanaCustomer>;
let child: ChildProcess | undefined;
const wallet = openWallet(SEED);
const port = 21_000 + Math.floor(Math.random() * 9_000);
const shop = new Client(() => ({ port }));

jest.setTimeout(3 * PATIENCE_MS);

beforeAll(async () => {
  [database, nats, node] = await Promise.all([
    testDatabase(),
    testNats(),
    startSurfpool({ port: 0, wsPort: 0, slotMs: SLOT_MS }),
  ]);
  const hot = { address: wallet.hotAddress, lamports: 100n * SOL, usdc: 0n };
  usdcMint = await prepareSolana(node.rpcUrl, hot);
  rpc = connectRpc(node.rpcUrl);
  customer = solanaCustomer({ rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } });
  const logger = createLogger('test', 'silent');
  [ledger, bus] = await Promise.all([
    scriptedLedger(nats.url),
    connectBus({ url: nats.url, service: 'invoices', logger }),
  ]);
  db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 2, logger });
});
afterEach(() => stop());
afterAll(async () => {
  await ledger?.close();
  await bus?.close();
  await rpc?.close();
  await db?.close();
  await nats?.stop();
  await node?.stop();
  await database?.drop();
});

async function start(crashAt?: string): Promise<void> {
  await launch(crashAt);
  await eventually(async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(await ready.json()).toEqual({ ready: true, waits_for: [] });
  }, PATIENCE_MS);
  // The quotes arrive a moment after the bus: an order without an amount is told so as soon as they are there.
  await eventually(async () => {
    const { status, body } = await shop.post({ asset: 'SOL', amount: 0, address: '0x1' });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['amount', 'address']]);
  }, PATIENCE_MS);
}

/** Starts the process; one that is to die in its first step never serves. */
async function launch(crashAt?: string): Promise<void> {
  const board = new TestBoard();
  board.set('SOL', { usd_rate: '200', network_fee: '1000000', dust: '890880', min_confirmations: 1 });
  board.set('USDC_SOL', { usd_rate: '1', network_fee: '500000', dust: '10000', min_confirmations: 1 });
  await publishQuotes(
    bus,
    (['SOL', 'USDC_SOL'] as const).map((asset) => board.latest(asset) as Quote),
  );
  child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...environment(database.urlOf('payouts'), nats.url),
      PORT: String(port),
      SOLANA_RPC_URL: node.rpcUrl,
      SOLANA_NETWORK: 'local',
      SOLANA_USDC_MINT: usdcMint,
      ENGINE_EVERY_MS: '50',
      LOG_LEVEL: 'silent',
      ...(crashAt === undefined ? {} : { CRASH_AT: `${crashAt}:1` }),
    },
  });
}

async function stop(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function died(): Promise<void> {
  await eventually(async () => expect(child?.signalCode).toBe('SIGKILL'), PATIENCE_MS, STEP_MS);
  // What the dead process had taken for a while is free again.
  await db.rows(`update leases set expires_at = now() - interval '1 second'`);
  await db.rows('update outbox set claimed_until = null where sent_at is null');
}

let recipients = 1_000_000;
const newRecipient = () => wallet.depositAddress(++recipients);

/** The id of the payout that was asked for; its client may have heard nothing. */
async function ask(asset: 'SOL' | 'USDC_SOL', amount: string, to: string): Promise<PayoutId> {
  await shop.post({ asset, amount, address: to }, { 'idempotency-key': `key ${to}` }).catch(() => undefined);
  const row = await db.one<{ id: PayoutId }>(
    'select id from payouts where account_id = $1 order by seq desc limit 1',
    [shop.account],
  );
  return row.id;
}

let index = 0;
/** USDC on a deposit address, of which the treasury hears over the bus. */
async function deposit(dollars: bigint): Promise<string> {
  index += 1;
  const address = wallet.depositAddress(index);
  const amount = dollars * DOLLAR;
  await payOnSolana({ rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } }, [
    { asset: 'USDC_SOL', to: address, amount },
  ]);
  const depositId = newDepositId(new Date());
  const payload = {
    deposit_id: depositId,
    account_id: shop.account,
    invoice_id: 'inv_test',
    asset: 'USDC_SOL',
    amount: amount.toString(),
    address,
    derivation_index: index,
    outpoint: `${address}:1`,
    tx_hash: null,
    block_height: 1,
    block_hash: 'block',
    disposition: 'credit',
  };
  const body = { id: `evt_${depositId}`, kind: 'deposit.settled', created_at: '', request_id: null, payload };
  await bus.publish([{ kind: 'deposit.settled', dedupe: depositId, body: JSON.stringify(body) }]);
  await eventually(async () =>
    expect(await db.rows('select 1 from holdings where deposit_id = $1', [depositId])).toHaveLength(1),
  );
  return depositId;
}

async function mined(id: PayoutId): Promise<void> {
  await eventually(
    async () => {
      const { status } = await db.one<{ status: string }>('select status from payouts where id = $1', [id]);
      expect(status).toBe('mined');
    },
    PATIENCE_MS,
    STEP_MS,
  );
  await eventually(async () => {
    const rows = await db.rows<{ kind: string }>(
      `select kind from outbox where (payload->>'payout_id' = $1 or payload->>'resource_id' = $1) and sent_at is not null
       order by seq`,
      [id],
    );
    expect(rows.map((row) => row.kind)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
  });
}

type Attempt = { attempt: number; state: string; tx_hash: string; valid_to_height: string };
const attemptsAt = (id: PayoutId) =>
  db.rows<Attempt>(
    'select transactions.* from transactions join payments using (family) where payout_id = $1 order by attempt',
    [id],
  );

/** What the network took for each transaction is told once. */
async function expectSpentOnce(): Promise<void> {
  const told = await db.rows<{ hash: string; times: number }>(
    `select payload->>'tx_hash' as hash, count(*)::int as times from outbox
     where kind = 'network.spent' group by 1 having count(*) > 1`,
  );
  expect(told).toEqual([]);
}

it.each([
  'payouts.planned',
  'payouts.signing',
  'payouts.signed',
  'payouts.sent',
  'payouts.broadcast',
  'payouts.settling',
  'payouts.mined',
])('killed at %s: one transaction, one end', async (point) => {
  await start(point);
  const to = newRecipient();
  const id = await ask('SOL', '0.5', to);
  await died();
  await start();
  await mined(id);
  expect(await customer.balance('SOL', to)).toBe(SOL / 2n);
  expect(await attemptsAt(id)).toMatchObject([{ attempt: 1, state: 'mined' }]);
  await expectSpentOnce();
});

it.each([
  'sweeps.signing',
  'sweeps.signed',
  'sweeps.sent',
  'sweeps.broadcast',
  'sweeps.settling',
  'sweeps.mined',
])('killed at %s: one sweep, one payout', async (point) => {
  await start(point);
  const depositId = await deposit(50n);
  await died();
  await start();
  const to = newRecipient();
  const id = await ask('USDC_SOL', '50', to);
  await mined(id);
  expect(await customer.balance('USDC_SOL', to)).toBe(50n * DOLLAR);
  const swept = `select t.state from transactions t join holdings h on h.sweep_id = t.id where h.deposit_id = $1`;
  expect(await db.rows(swept, [depositId])).toEqual([{ state: 'mined' }]);
  await expectSpentOnce();
});

it.each(['resigns.signing', 'resigns.signed'])(
  'killed at %s, after an attempt that expired: several attempts, one of them mined',
  async (point) => {
    await start('payouts.signed');
    const to = newRecipient();
    const id = await ask('SOL', '0.5', to);
    await died();
    const [first] = await attemptsAt(id);
    await eventually(
      async () => {
        const height = await rpc.call('getBlockHeight', [{ commitment: 'finalized' }]);
        expect(height).toBeGreaterThan(Number(first?.valid_to_height)); // tidy-allow number: a height
      },
      PATIENCE_MS,
      STEP_MS,
    );
    // As if it had lain there for as long as it takes before a proof is asked for.
    await db.rows(`update transactions set created_at = created_at - interval '31 seconds'`);
    await launch(point);
    await died();
    const expected = point === 'resigns.signed' ? ['dead', 'signed'] : ['signed'];
    expect((await attemptsAt(id)).map(({ state }) => state)).toEqual(expected);
    await start();
    await mined(id);
    expect(await customer.balance('SOL', to)).toBe(SOL / 2n);
    // On a slow machine the second one expires as well before the process is back.
    const states = (await attemptsAt(id)).map(({ state }) => state);
    expect(states.length).toBeGreaterThan(1);
    expect(states).toEqual([...states.slice(1).map(() => 'dead'), 'mined']);
    await expectSpentOnce();
  },
);

it('names addresses to invoices over the bus', async () => {
  await start();
  const answer = await bus.ask('addresses.derive', { chain: 'solana', from: 5, count: 500 });
  const addresses = Array.from({ length: 500 }, (_, i) => wallet.depositAddress(5 + i));
  expect(answer).toEqual({ known: true, reply: { addresses } });
  // Only who holds the keys of a chain can; and one that is not configured has none.
  expect(await bus.ask('addresses.derive', { chain: 'polygon', from: 0, count: 1 })).toMatchObject({
    known: false,
  });
});
