import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { newAccountId, newEventId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { publishQuotes } from '@quittance/shared/quotes';
import { COMPILED } from '@quittance/stack/service-process';
import { deployTestUsdc } from '@quittance/stack/test-usdc';
import { crashOrders } from '@quittance/testkit/crash-orders';
import { type TestDatabase, testAnvil, testDatabase, testNats } from '@quittance/testkit/engines';
import { type Customer, ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import pg from 'pg';
import { api, aQuote, settings as chainSettings, confirmKeys, SECRET, XPUB } from './replica.ts';

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;
const PORT = 27_000 + (process.pid % 5_000);
const CONFIRMATIONS = 3;
/** A machine that runs many suites starts a process slowly. */
const STARTS_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 60_000;

/** The failpoints within large transactions; test/faults kills a whole stack at every failpoint. */
const POINTS = [
  'invoices.block_written',
  'invoices.block_committed',
  'invoices.branch_dropped',
  'invoices.balance_checked',
  'invoices.credited',
  'relay.published',
];

let database: TestDatabase;
let nats: Awaited<ReturnType<typeof testNats>>;
let anvil: Awaited<ReturnType<typeof testAnvil>>;
let customer: Customer;
let ledger: Bus;
let admin: pg.Pool;
let settings: Record<string, string>;
let service: Awaited<ReturnType<typeof supervised>>;

beforeAll(
  async () => {
    [database, nats, anvil] = await Promise.all([testDatabase(), testNats(), testAnvil()]);
    const usdc = await deployTestUsdc(anvil.rpcUrl);
    customer = ethereumCustomer(anvil.rpcUrl, usdc);
    ledger = await connectBus({ url: nats.url, service: 'ledger', logger: createLogger('test', 'silent') });
    admin = new pg.Pool({ connectionString: database.adminUrl, max: 2, options: '-c search_path=invoices' });
    await confirmKeys(database, chainSettings.ethereum);
    settings = {
      PORT: String(PORT),
      DATABASE_URL: database.urlOf('invoices'),
      NATS_URL: nats.url,
      IDENTITY_SECRET: SECRET,
      PUBLIC_URL: 'http://127.0.0.1',
      ETHEREUM_RPC_URL: anvil.rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_USDC_ADDRESS: usdc,
      ETHEREUM_XPUB: XPUB,
      ETHEREUM_QUIET_MS: '1',
      SCAN_EVERY_MS: '50',
      LOG_LEVEL: 'fatal',
    };
    service = await supervised();
  },
  patient(2 * STARTS_WITHIN_MS),
);
afterAll(async () => {
  await service?.stop();
  await ledger?.close();
  await admin?.end();
  await Promise.all([anvil?.stop(), nats?.stop()]);
  await database?.drop();
});

const rows = async (sql: string, values: unknown[] = []) => (await admin.query(sql, values)).rows;

/** The service as a process that is restarted when it dies, with the failpoint at which it dies. */
async function supervised() {
  const ordersDir = mkdtempSync(join(tmpdir(), 'quittance-orders-'));
  const orders = crashOrders(ordersDir);
  let child: ChildProcess;
  let deaths = 0;
  let stopped: (() => void) | undefined;
  const start = () => {
    child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
      env: { ...settings, NODE_COMPILE_CACHE: COMPILED, ...orders.environment('invoices') },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('exit', (_code, signal) => {
      if (stopped !== undefined) {
        rmSync(ordersDir, { recursive: true, force: true });
        return stopped();
      }
      if (signal === 'SIGKILL') deaths += 1;
      start();
    });
  };
  start();
  await eventually(async () => {
    expect((await fetch(`http://127.0.0.1:${PORT}/readyz`)).status).toBe(200);
  }, STARTS_WITHIN_MS);
  return {
    deaths: () => deaths,
    async dieAt(point: string): Promise<void> {
      deaths = 0;
      await orders.give('invoices', child.pid ?? 0, point);
    },
    stop: () =>
      new Promise<void>((resolve) => {
        stopped = resolve;
        child.kill('SIGTERM');
      }),
  };
}

/** Acts as the ledger: reports every deposit that it receives as credited. */
async function book(): Promise<void> {
  const due = await rows(
    `select d.id, d.invoice_id from deposits d
     where d.settled_at is not null and d.credited_at is null and exists (
       select 1 from outbox where kind = 'deposit.settled' and payload->>'deposit_id' = d.id and sent_at is not null)`,
  );
  for (const { id, invoice_id } of due) {
    const event = {
      id: newEventId(new Date()),
      kind: 'credit.recorded' as const,
      created_at: new Date().toISOString(),
      request_id: null,
      payload: { deposit_id: id, invoice_id },
    };
    await ledger.publish([{ kind: event.kind, dedupe: event.id, body: JSON.stringify(event) }]);
  }
}

it.each(POINTS)(
  'ends as without a crash when killed at %s',
  async (point) => {
    await service.dieAt(point);
    const account = newAccountId(new Date());
    const call = (method: 'GET' | 'POST', path: string, body?: object, headers = {}) =>
      api(PORT, method, path, { account, body, headers, now: new Date() });
    const order = (name: string) =>
      eventually(async () => {
        // A fresh rate, as the ledger publishes it.
        const now = new Date();
        await publishQuotes(ledger, [
          aQuote({ asset: 'ETH', min_confirmations: CONFIRMATIONS }, now),
          aQuote({ asset: 'USDC_ERC20', usd_rate: '1', min_confirmations: CONFIRMATIONS }, now),
        ]);
        const answer = await call(
          'POST',
          '/api/invoices',
          { asset: 'ETH', amount: 25 },
          { 'idempotency-key': name },
        );
        expect(answer.status).toBe(201);
        return answer.body.data;
      });
    const read = async (id: string) => (await call('GET', `/api/invoices/${id}`)).body;
    const becomes = (id: string, wanted: object) =>
      eventually(async () => {
        await book();
        expect(await read(id)).toMatchObject(wanted);
      }, ENDS_WITHIN_MS);

    const sale = await order('sale');
    const unpaid = await order('unpaid');
    await rows(`update invoices set expires_at = now() where id = $1`, [unpaid.id]);

    // Half of it is dropped by a reorganisation and paid again, and a contract sends the other half.
    await customer.pay('ETH', sale.address.address, '0.005');
    await customer.mine();
    await becomes(sale.id, { status: 'partially_paid' });
    await customer.dropBlocks(1);
    await becomes(sale.id, { status: 'pending', payments: [{ status: 'reversed' }] });
    await customer.pay('ETH', sale.address.address, '0.005');
    await customer.mine();
    await customer.payByContract(sale.address.address, '0.005');
    await customer.mine(CONFIRMATIONS);
    await becomes(sale.id, { status: 'paid', paid_amount: '0.01' });
    await becomes(unpaid.id, { status: 'expired' });
    await eventually(async () => {
      expect(await rows('select 1 from outbox where sent_at is null')).toEqual([]);
    });

    expect(service.deaths()).toBe(1);
    const made = await rows('select id from invoices where account_id = $1', [account]);
    expect(made).toHaveLength(2);
    const kinds = async (id: string) =>
      (
        await rows(
          `select kind from outbox where payload->>'resource_id' = $1 or payload->>'invoice_id' = $1 order by seq`,
          [id],
        )
      ).map(({ kind }) => kind);
    expect((await kinds(sale.id)).toSorted()).toEqual(
      [
        'invoice.created',
        'invoice.partially_paid',
        'invoice.payment_reversed',
        'invoice.partially_paid',
        'invoice.confirmed',
        'deposit.settled',
        'deposit.settled',
        'invoice.paid',
      ].toSorted(),
    );
    expect(await kinds(unpaid.id)).toEqual(['invoice.created', 'invoice.expired']);
    expect((await read(sale.id)).payments.map(({ status }: { status: string }) => status).toSorted()).toEqual(
      ['confirmed', 'confirmed', 'reversed'],
    );
    expect(await rows('select 1 from dead_letters')).toEqual([]);
  },
  patient(5 * ENDS_WITHIN_MS),
);
