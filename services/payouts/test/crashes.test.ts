import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { openWallet } from '@quittance/chains/evm/wallet';
import type { AnvilHandle } from '@quittance/engines/anvil';
import { deployTestUsdc } from '@quittance/sandbox/test-usdc';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { type Db, openDb } from '@quittance/shared/db';
import { newDepositId, type PayoutId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { publishQuotes, type Quote } from '@quittance/shared/quotes';
import { type TestDatabase, testAnvil, testDatabase, testNats } from '@quittance/testkit/engines';
import { type Customer, ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, SEED, TestBoard } from './service-client.ts';

/**
 * The real process on a real chain is killed at each of its named points and started again. Whatever it was
 * doing, it ends once.
 */
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const CONFIRMATIONS = 2;
const DOLLAR = 1_000_000n;
/** A machine that runs many suites at once starts a process slowly. */
const PATIENCE_MS = 60_000;
const STEP_MS = 150;

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let anvil: AnvilHandle;
let ledger: ScriptedLedger;
let bus: Bus;
let db: Db;
let chain: Customer;
let usdc: string;
let child: ChildProcess | undefined;
const wallet = openWallet(SEED);
const port = 21_000 + Math.floor(Math.random() * 9_000);
const shop = new Client(() => ({ port }));

jest.setTimeout(3 * PATIENCE_MS);

beforeAll(async () => {
  [database, nats, anvil] = await Promise.all([testDatabase(), testNats(), testAnvil()]);
  usdc = await deployTestUsdc(anvil.rpcUrl);
  chain = ethereumCustomer(anvil.rpcUrl, usdc);
  const logger = createLogger('test', 'silent');
  [ledger, bus] = await Promise.all([
    scriptedLedger(nats.url),
    connectBus({ url: nats.url, service: 'invoices', logger }),
  ]);
  db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 2, logger });
  await chain.pay('ETH', wallet.hotAddress, '100');
  await chain.mine();
});
afterEach(async () => {
  await stop();
  ledger.reply = () => ({ outcome: 'placed' });
});
afterAll(async () => {
  await ledger?.close();
  await bus?.close();
  await db?.close();
  await nats?.stop();
  await anvil?.stop();
  await database?.drop();
});

async function start(crashAt?: string): Promise<void> {
  await launch(crashAt);
  await serves();
}

/** Starts the process; one that is to die in its first step never serves. */
async function launch(crashAt?: string): Promise<void> {
  const board = new TestBoard();
  // Next to nothing: deposits are swept when a payout needs them, not as soon as they are there.
  board.set('USDC_ERC20', { network_fee: '1000000', dust: '10000', usd_rate: '0.000001' });
  const quotes = (['ETH', 'USDC_ERC20'] as const).map((asset) => board.latest(asset) as Quote);
  await publishQuotes(
    bus,
    quotes.map((quote) => ({ ...quote, min_confirmations: CONFIRMATIONS })),
  );
  child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...environment(database.urlOf('payouts'), nats.url),
      PORT: String(port),
      ETHEREUM_RPC_URL: anvil.rpcUrl,
      ETHEREUM_USDC_ADDRESS: usdc,
      ENGINE_EVERY_MS: '50',
      LOG_LEVEL: 'silent',
      ...(crashAt === undefined ? {} : { CRASH_AT: `${crashAt}:1` }),
    },
  });
}

async function serves(): Promise<void> {
  await eventually(async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(await ready.json()).toEqual({ ready: true, waits_for: [] });
  }, PATIENCE_MS);
  // The quotes arrive a moment after the bus: an order without an amount is told so as soon as they are there.
  await eventually(async () => {
    const { status, body } = await shop.post({ asset: 'ETH', amount: 0, address: '0x1' });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['amount', 'address']]);
    const tooSmall: string[] = body.errors.amount;
    expect(tooSmall).toEqual(['The amount must be at least 0.00001.']);
  });
}

async function stop(): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function died(): Promise<void> {
  await eventually(
    async () => {
      await chain.mine();
      expect(child?.signalCode).toBe('SIGKILL');
    },
    PATIENCE_MS,
    STEP_MS,
  );
  // What the dead process had taken for a while is free again.
  await db.rows(`update leases set expires_at = now() - interval '1 second'`);
  await db.rows(
    `update payouts set created_at = created_at - interval '11 seconds' where status = 'requested'`,
  );
  await db.rows(`update outbox set claimed_until = null where sent_at is null`);
}

let recipients = 0;
const newRecipient = () => `0x${(++recipients).toString(16).padStart(8, '0')}${'c7'.repeat(16)}`;

type Order = { asset: 'ETH' | 'USDC_ERC20'; amount: string; to: string };

/** The id of the payout that was asked for; its client may have heard nothing. */
async function ask({ asset, amount, to }: Order): Promise<PayoutId> {
  const key = `key ${to} ${Math.random()}`;
  await shop.post({ asset, amount, address: to }, { 'idempotency-key': key }).catch(() => undefined);
  const row = await db.one<{ id: PayoutId }>(
    `select id from payouts where account_id = $1 order by seq desc limit 1`,
    [shop.account],
  );
  return row.id;
}

let index = 0;
/** USDC on a deposit address, of which the treasury hears over the bus. */
async function deposit(dollars: bigint): Promise<string> {
  index += 1;
  const address = wallet.depositAddress(index);
  await chain.pay('USDC_ERC20', address, dollars.toString());
  await chain.mine();
  const depositId = newDepositId(new Date());
  const payload = {
    deposit_id: depositId,
    account_id: shop.account,
    invoice_id: 'inv_test',
    asset: 'USDC_ERC20',
    amount: (dollars * DOLLAR).toString(),
    address,
    derivation_index: index,
    outpoint: `0x:${index}`,
    tx_hash: null,
    block_height: 1,
    block_hash: '0x',
    disposition: 'credit',
  };
  const body = { id: `evt_${depositId}`, kind: 'deposit.settled', created_at: '', request_id: null, payload };
  await bus.publish([{ kind: 'deposit.settled', dedupe: depositId, body: JSON.stringify(body) }]);
  return depositId;
}

const statusOf = async (id: PayoutId) =>
  (await db.one<{ status: string }>('select status from payouts where id = $1', [id])).status;

async function ends(id: PayoutId, status: string): Promise<void> {
  await eventually(
    async () => {
      await chain.mine();
      expect(await statusOf(id)).toBe(status);
    },
    PATIENCE_MS,
    STEP_MS,
  );
}

async function expectAnnounced(id: PayoutId, kinds: readonly string[]): Promise<void> {
  await eventually(async () => {
    const rows = await db.rows<{ kind: string }>(
      `select kind from outbox where (payload->>'payout_id' = $1 or payload->>'resource_id' = $1) and sent_at is not null
       order by seq`,
      [id],
    );
    expect(rows.map((row) => row.kind)).toEqual(kinds);
  });
}

it.each(['payouts.requested', 'payouts.held'])(
  'killed at %s: nobody was promised anything, the hold is undone, the key is free',
  async (point) => {
    await start(point);
    const to = newRecipient();
    const id = await ask({ asset: 'ETH', amount: '0.01', to });
    await died();
    await start();
    await ends(id, 'voided');
    await expectAnnounced(id, ['hold.void']);
    expect(await chain.transactions(to)).toEqual([]);
    expect(await db.rows('select 1 from idempotency_keys where resource_id = $1', [id])).toEqual([]);
  },
);

it.each(['payouts.refused', 'payouts.voided', 'payouts.sweeping_requests'])(
  'killed at %s: nothing is ever paid',
  async (point) => {
    ledger.reply = () => (point === 'payouts.refused' ? { outcome: 'refused' } : { outcome: 'voided' });
    if (point === 'payouts.sweeping_requests') {
      await start('payouts.requested');
      await ask({ asset: 'ETH', amount: '0.01', to: newRecipient() });
      await died();
    }
    if (point === 'payouts.sweeping_requests') await launch(point);
    else await start(point);
    const to = newRecipient();
    const id =
      point === 'payouts.sweeping_requests'
        ? (await db.one<{ id: PayoutId }>(`select id from payouts where status = 'requested'`)).id
        : await ask({ asset: 'ETH', amount: '0.01', to });
    await died();
    ledger.reply = () => ({ outcome: 'placed' });
    await start();
    await ends(id, point === 'payouts.refused' ? 'refused' : 'voided');
    await expectAnnounced(id, point === 'payouts.refused' ? [] : ['hold.void']);
    expect(await chain.transactions(to)).toEqual([]);
  },
);

it.each([
  'payouts.reserved',
  'relay.claimed',
  'relay.published',
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
  const id = await ask({ asset: 'ETH', amount: '0.01', to });
  await died();
  await start();
  await ends(id, 'mined');
  expect(await chain.transactions(to)).toHaveLength(1);
  expect(await chain.balance('ETH', to)).toBe(10n ** 16n);
  expect(
    await db.rows('select 1 from transactions join payments using (family) where payout_id = $1', [id]),
  ).toHaveLength(1);
  await expectAnnounced(id, ['payout.created', 'hold.settle', 'payout.completed']);
});

it.each(['payouts.failing', 'payouts.failed'])('killed at %s: everything goes back once', async (point) => {
  await start(point);
  // A contract that takes no Ether.
  const id = await ask({ asset: 'ETH', amount: '0.01', to: usdc });
  await died();
  await start();
  await ends(id, 'failed');
  expect(
    await db.rows('select 1 from transactions join payments using (family) where payout_id = $1', [id]),
  ).toEqual([]);
  await expectAnnounced(id, ['payout.created', 'hold.release', 'payout.failed']);
});

it.each([
  'consumer.before_commit',
  'consumer.after_commit',
  'sweeps.signing',
  'sweeps.signed',
  'sweeps.sent',
  'sweeps.broadcast',
  'sweeps.settling',
  'sweeps.mined',
])('killed at %s: one sweep, one payout', async (point) => {
  await start(point);
  const depositId = await deposit(50n);
  const to = newRecipient();
  let id: PayoutId | undefined;
  if (!point.startsWith('consumer')) {
    await eventually(async () =>
      expect(await db.rows('select 1 from holdings where deposit_id = $1', [depositId])).toHaveLength(1),
    );
    id = await ask({ asset: 'USDC_ERC20', amount: '50', to });
  }
  await died();
  await start();
  id ??= await ask({ asset: 'USDC_ERC20', amount: '50', to });
  await ends(id, 'mined');
  expect(await chain.balance('USDC_ERC20', to)).toBe(50n * DOLLAR);
  const swept = `select t.id from transactions t join holdings h on h.sweep_id = t.id where h.deposit_id = $1`;
  expect(await db.rows(swept, [depositId])).toHaveLength(1);
  expect(await db.rows('select state from holdings where deposit_id = $1', [depositId])).toEqual([
    { state: 'swept' },
  ]);
  await expectAnnounced(id, ['payout.created', 'hold.settle', 'payout.completed']);
});

it('no nonce was left out or used twice in all of this', async () => {
  const rows = await db.rows<{ nonce: string }>(
    `select nonce from transactions where wallet = $1 order by nonce`,
    [wallet.hotAddress],
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map((row) => BigInt(row.nonce))).toEqual(rows.map((_, i) => BigInt(i)));
});
