import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withChains } from '@quittance/chains/settings';
import { chainSettings } from '@quittance/chains/settings-schema';
import { startPostgres } from '@quittance/engines/postgres';
import { verifyBooks } from '@quittance/reconciliation/verify-books';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { loadConfig } from '@quittance/shared/config';
import { type Db, openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import type { Stack } from '@quittance/stack/stack';
import type { Customer } from '@quittance/testkit/customer';
import { databaseUrl, onServer } from '@quittance/testkit/databases';
import { checkAnswer } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import { STACK_STARTED_WITHIN_MS } from '@quittance/testkit/patience';
import { startSomewhere, testSettings } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { run } from 'quittance/run';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { type Customers, customersOf } from './upgrade/customers.ts';
import { movedTimes } from './upgrade/moved-times.ts';
import { openReconcilers } from './upgrade/reconcilers.ts';
import type { StoredState } from './upgrade/stored.ts';

/*
 * An installation of an older release, stopped in the middle of its work, is migrated and started by this one: what was
 * open, in flight, undelivered or a dead letter comes to its end, and every invariant holds. test/e2e/upgrade holds its
 * data.
 */

const STEP_MS = 60_000;
const ASK_EVERY_MS = 200;
const BLOCK_EVERY_MS = 500;
const DATABASE = 'quittance';
const stored = (name: string) =>
  gunzipSync(readFileSync(new URL(`./upgrade/${name}`, import.meta.url))).toString('utf8');
const state = JSON.parse(stored('state.json.gz')) as StoredState;
const logger = createLogger('test', 'error');

let dir: string;
let stack: Stack;
let db: Db;
let shop: Merchant;
let receiver: Receiver;
let reconcilers: Awaited<ReturnType<typeof openReconcilers>>;
let customers: Customers;
let clock: NodeJS.Timeout;
let isMining = false;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'quittance-upgrade-'));
  receiver = await startReceiver();
  for (const [name, content] of Object.entries(state.files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), Buffer.from(content, 'base64'));
  }
  await restoreDatabase();
  stack = await startSomewhere({
    dir,
    pace: { solanaSlotMs: 50 },
    together: services,
    settings: testSettings({}),
    postgresSettings: { fsync: 'off' },
  });
  db = openDb({ url: stack.adminUrl, schema: 'public', pool: 2, logger });
  shop = merchant(stack.url, state.account.id, state.account.token, undefined, undefined, checkAnswer);
  reconcilers = await openReconcilers(stack);
  customers = customersOf(stack);
  clock = setInterval(() => {
    if (isMining) return;
    isMining = true;
    const mined = Promise.all([customerOf('ETH').mine(1), customerOf('BTC').mine(1)]);
    void mined.finally(() => (isMining = false));
  }, BLOCK_EVERY_MS);
}, STACK_STARTED_WITHIN_MS);
afterAll(async () => {
  clearInterval(clock);
  await eventually(() => expect(isMining).toBe(false));
  await reconcilers?.close();
  await db?.close();
  await stack?.stop();
  await stack?.engines.postgres.destroy();
  await receiver?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function restoreDatabase(): Promise<void> {
  const postgres = await startPostgres({
    dataDir: join(dir, 'postgres'),
    port: 0,
    settings: { fsync: 'off' },
  });
  await onServer(postgres.url, `create database ${DATABASE}`);
  const url = databaseUrl(postgres.url, DATABASE);
  await onServer(url, stored('database.sql.gz'));
  await onServer(
    url,
    `${movedTimes(state.stoppedAt)}
     update webhooks.endpoints set url = '${receiver.url}/hook'`,
  );
  await postgres.stop();
}

function customerOf(asset: AssetSymbol): Customer {
  const { chain } = assets[asset];
  const customer = customers[chain];
  if (customer === undefined) throw new Error(`this stack has no node of ${chain}`);
  return customer;
}

const inRole = (...roles: string[]) => state.invoices.filter(({ role }) => roles.includes(role));
const statusOf = async (id: string): Promise<string> => (await shop.get(`/api/invoices/${id}`)).body.status;
const become = (invoices: readonly { id: string; role: string; asset: string }[], status: string) =>
  eventually(
    async () => {
      const now = await Promise.all(
        invoices.map(async ({ id, role, asset }) => `${role} ${asset} ${await statusOf(id)}`),
      );
      expect(now).toEqual(invoices.map(({ role, asset }) => `${role} ${asset} ${status}`));
    },
    STEP_MS,
    ASK_EVERY_MS,
  );

test('the stored installation has of everything that can be in the middle of its way', () => {
  expect(state.counts).toMatchObject({
    payouts: {
      requested: expect.any(Number),
      reserved: expect.any(Number),
      signed: expect.any(Number),
      broadcast: expect.any(Number),
      mined: expect.any(Number),
    },
    invoices: {
      pending: expect.any(Number),
      confirmed: expect.any(Number),
      partially_paid: expect.any(Number),
      paid: expect.any(Number),
      expired: expect.any(Number),
    },
    parked: 1,
    unsent: 1,
  });
  expect(state.counts.deliveriesWaiting).toBeGreaterThan(0);
});

test('all migrations there are were applied to it', async () => {
  for (const service of services) {
    const applied = await db.rows<{ name: string }>(`select name from ${service}.migrations order by name`);
    const files = ['packages/shared', `services/${service}`].flatMap((folder) =>
      readdirSync(new URL(`../../${folder}/migrations/`, import.meta.url)),
    );
    expect(applied.map(({ name }) => `${name}.sql`)).toEqual(files.sort());
  }
});

test('invoices whose payments were on their way become paid, one after its event is sent again', async () => {
  await become(inRole('seen', 'in no block', 'settled', 'paid'), 'paid');
  const [{ id = '' } = {}] = inRole('parked');
  expect(await statusOf(id)).not.toBe('paid');
  const out = () => undefined;
  const env = { DATABASE_URL_ADMIN: stack.adminUrl, QUITTANCE_OPERATOR: 'anna' };
  expect(await run(['dead-letters', 'retry', '--all'], { env, cwd: dir, out, err: out })).toBe(0);
  await become(inRole('parked'), 'paid');
});

test('invoices that were open and partly paid can be paid, those that had ended stay as they are', async () => {
  await Promise.all(
    inRole('open', 'partly paid').map(async ({ id, role, asset, address }) => {
      // What was not final on Solana's former chain is gone with it, once invoices has seen the new one.
      const isPaid = role === 'partly paid' && asset !== 'SOL';
      const amount = await eventually(async () => {
        const { amount, paid_amount } = (await shop.get(`/api/invoices/${id}`)).body;
        expect([role, asset, paid_amount !== '0']).toEqual([role, asset, isPaid]);
        return amount;
      }, STEP_MS);
      // More than is missing, so that nothing is rounded here.
      await customerOf(asset).pay(asset, address, amount);
    }),
  );
  await become(inRole('open', 'partly paid'), 'paid');
  await become(inRole('late'), 'expired');
});

test('payouts that were in flight are mined, one that was not decided ends without a payment', async () => {
  const wanted = state.payouts.map(({ id, role, asset }) => [
    id,
    asset,
    role === 'requested' ? expect.stringMatching(/^(?:voided|refused|failed)$/) : 'mined',
  ]);
  await eventually(
    async () => {
      const rows = await db.rows<{ id: string; asset: string; status: string }>(
        'select id::text, asset, status from payouts.payouts order by seq',
      );
      const now = new Map(rows.map(({ id, asset, status }) => [id, [id, asset, status]]));
      expect(state.payouts.map(({ id }) => now.get(id))).toEqual(wanted);
    },
    STEP_MS,
    ASK_EVERY_MS,
  );
});

test('money that came too late is still there, and can be accepted', async () => {
  const { body } = await shop.get('/api/unresolved?status=open&perPage=100');
  const assetsOf = body.data.map(({ asset }: { asset: { symbol: string } }) => asset.symbol ?? asset);
  expect(assetsOf.sort()).toEqual(
    inRole('late')
      .map(({ asset }) => asset)
      .sort(),
  );
  for (const { id } of body.data)
    expect((await shop.post(`/api/unresolved/${id}/accept`, {})).status).toBe(200);
});

test('events that were undelivered arrive at the shop, signed with the secret it was given', async () => {
  await eventually(
    async () => {
      const open = await db.rows(
        `select sequence from webhooks.deliveries where state in ('waiting', 'sending') limit 3`,
      );
      expect(open).toEqual([]);
    },
    STEP_MS,
    ASK_EVERY_MS,
  );
  const { unlike } = await db.one<{ unlike: number }>(
    `select count(*)::int as unlike from webhooks.deliveries where state <> 'delivered'`,
  );
  expect(unlike).toBe(0);
  expect(receiver.received.length).toBeGreaterThanOrEqual(state.counts.deliveriesWaiting);
  const secret = new Webhook(state.endpoint.secret);
  for (const { body, headers } of receiver.received)
    expect(() => secret.verify(body, headers as Record<string, string>)).not.toThrow();
});

test('in the end every event is processed, the merchant sells and pays out as before, and every invariant holds', async () => {
  const { status, body } = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
  expect(status).toBe(201);
  await customerOf('ETH').pay('ETH', body.data.address.address, body.data.amount);
  await become([{ id: body.data.id, role: 'new', asset: 'ETH' }], 'paid');
  await eventually(
    async () => {
      await reconcilers.step();
      for (const service of ['invoices', 'payouts', 'ledger'])
        expect(await db.rows(`select kind from ${service}.outbox where confirmed_at is null`)).toEqual([]);
      for (const service of services.filter((name) => name !== 'gateway'))
        expect(await db.rows(`select kind from ${service}.dead_letters`)).toEqual([]);
      const watched = loadConfig(
        'the books',
        withChains(z.object(chainSettings)),
        stack.chainSettings,
      ).chains;
      const chains = watched.map((settings) => ({
        settings,
        // Solana's chain is new at each start of its node.
        ...(settings.chain === 'solana' ? { since: stack.began } : {}),
      }));
      const { discrepancies } = await verifyBooks({
        databaseUrl: stack.adminUrl,
        gracePeriodSeconds: 0,
        chains,
      });
      expect(discrepancies).toEqual([]);
    },
    STEP_MS,
    ASK_EVERY_MS,
  );
});
