import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';

/*
 * npm run test:medusa
 *
 * A shop of Medusa, installed from npm with the tarball of the payment provider, beside Quittance on real engines. It installs
 * about 680 MB, so it is a part of `npm run test:nightly`; what the provider itself does is in `test/e2e/shop/medusa.ts`.
 */
const MEDUSA = '2.21.2';
const root = join(import.meta.dirname, '../..');
const dir = mkdtempSync(join(tmpdir(), 'quittance-medusa-'));
const INSTALLED_WITHIN_MS = 600_000;
const PAID_WITHIN_MS = 60_000;
const CONFIRMATIONS = 2;
const LINES_SHOWN = 20;

let quittance: Quittance;
let merchant: Merchant;
let shop: { url: string; key: string; region: string; variant: string };
let server: ReturnType<typeof spawn> | undefined;
const said: string[] = [];

beforeAll(async () => {
  quittance = await startQuittance({
    chains: [],
    confirmations: CONFIRMATIONS,
    together: ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks'],
  });
  merchant = await quittance.merchant('medusa');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const hook = `${url}/hooks/payment/quittance_quittance`;
  const endpoint = await merchant.post('/api/webhooks', { url: hook });
  const database = new URL(quittance.stack.adminUrl);
  await onServer(database.href, 'create database medusa');
  database.pathname = '/medusa';
  const env = {
    ...process.env,
    NODE_OPTIONS: undefined,
    NODE_PATH: undefined,
    PORT: String(port),
    DATABASE_URL: database.href,
    SECRET: 'a secret of a test',
    QUITTANCE_URL: quittance.url,
    QUITTANCE_TOKEN: merchant.token,
    QUITTANCE_WEBHOOK_SECRET: endpoint.body.data.secret,
    MEDUSA_DISABLE_TELEMETRY: 'true',
    NODE_ENV: 'production',
  };
  const packed = await promisify(execFile)(process.execPath, ['tools/pack.ts', dir], { cwd: root });
  const tarball = packed.stdout.split('\n').find((path) => path.includes('medusa-payment'));
  writeFileSync(join(dir, 'package.json'), '{ "private": true }\n');
  const wanted = ['medusa', 'framework', 'cli'].map((name) => `@medusajs/${name}@${MEDUSA}`);
  const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['install', ...how, ...wanted, String(tarball)], { cwd: dir });
  mkdirSync(join(dir, 'src'));
  copyFileSync(join(import.meta.dirname, 'shop/medusa-config.cjs'), join(dir, 'medusa-config.js'));
  copyFileSync(join(import.meta.dirname, 'shop/seed.cjs'), join(dir, 'src/seed.js'));
  const medusa = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(dir, 'node_modules/@medusajs/cli/cli.js'), ...args], {
      cwd: dir,
      env,
    });
  await medusa('db:migrate');
  const { stdout } = await medusa('exec', './src/seed.js');
  const seeded = stdout.split('\n').find((line) => line.startsWith('{"key":'));
  shop = { url, ...JSON.parse(String(seeded)) };
  server = spawn(process.execPath, [join(dir, 'node_modules/@medusajs/cli/cli.js'), 'start'], {
    cwd: dir,
    env,
  });
  for (const output of [server.stdout, server.stderr]) output?.on('data', (text) => said.push(String(text)));
  await eventually(async () => expect((await fetch(`${url}/health`)).status).toBe(200), 120_000, 500);
}, INSTALLED_WITHIN_MS);

afterAll(async () => {
  server?.kill('SIGTERM');
  await quittance?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function store(path: string, body?: object) {
  const headers = { 'x-publishable-api-key': shop.key, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${shop.url}/store${path}`, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text} ${said.slice(-20).join('')}`);
  return JSON.parse(text);
}

/** A cart with a ticket, up to the payment page of its session. */
async function checkOut() {
  const address = {
    first_name: 'A',
    last_name: 'B',
    address_1: '1 Street',
    city: 'X',
    country_code: 'us',
    postal_code: '1',
  };
  const { cart } = await store('/carts', {
    region_id: shop.region,
    email: 'a@shop.example',
    shipping_address: address,
  });
  await store(`/carts/${cart.id}/line-items`, { variant_id: shop.variant, quantity: 1 });
  const { payment_collection } = await store('/payment-collections', { cart_id: cart.id });
  const began = await store(`/payment-collections/${payment_collection.id}/payment-sessions`, {
    provider_id: 'pp_quittance_quittance',
  });
  return { cart, session: began.payment_collection.payment_sessions[0] };
}

async function pay(url: string) {
  const body = new URLSearchParams({ asset: 'ETH' });
  await fetch(`${url}/choose`, { method: 'POST', body, redirect: 'manual' });
  const { address, amount } = (await merchant.get(`/api/invoices/${url.split('/').at(-1)}`)).body;
  await quittance.ethereum.pay('ETH', address.address, amount);
  await quittance.ethereum.mine(CONFIRMATIONS);
}

/** What both sides know of a payment, for the reader of a failed test. */
async function state({ data }: { data: { invoice_id: string } }): Promise<string> {
  const { status } = (await merchant.get(`/api/invoices/${data.invoice_id}`)).body;
  const [endpoint] = (await merchant.get('/api/webhooks')).body.data;
  const deliveries = (await merchant.get(`/api/webhooks/${endpoint.id}/deliveries`)).body.data;
  const lines = said
    .join('')
    .split('\n')
    .filter((line) => !line.includes('"method":"GET"'));
  return JSON.stringify({ status, deliveries, lines: lines.slice(-LINES_SHOWN) }, null, 2);
}

test('an order is placed when its invoice is paid, without the customer coming back', async () => {
  const { cart, session } = await checkOut();
  expect(session.data).toMatchObject({
    amount: '25.00',
    currency: 'USD',
    url: expect.stringContaining('/pay/'),
  });
  expect(JSON.stringify(session)).not.toContain(merchant.token);
  await expect(store(`/carts/${cart.id}/complete`, {})).rejects.toThrow(
    'was not authorized with the provider',
  );
  await pay(session.data.url);
  await eventually(
    async () => {
      const found = await store(`/carts/${cart.id}?fields=id,completed_at`);
      if (found.cart.completed_at === null) throw new Error(`the cart is open: ${await state(session)}`);
    },
    PAID_WITHIN_MS,
    500,
  );
  // It answers the order of a cart that is completed.
  const { order } = await store(`/carts/${cart.id}/complete`, {});
  const fields = 'id,total,*payment_collections.payments';
  const read = (await store(`/orders/${order.id}?fields=${fields}`)).order;
  expect(read.total).toBe(25);
  const [collection] = read.payment_collections;
  expect(collection).toMatchObject({ status: 'completed', captured_amount: 25 });
  expect(collection.payments).toEqual([
    expect.objectContaining({
      captured_at: expect.any(String),
      data: expect.objectContaining({ status: 'paid', invoice_id: session.data.invoice_id }),
    }),
  ]);
}, 180_000);
