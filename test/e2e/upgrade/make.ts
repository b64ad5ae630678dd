import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { openAccount } from '@quittance/stack/open-account';
import { type Stack, startStack } from '@quittance/stack/stack';
import { bitcoinCustomer } from '@quittance/testkit/bitcoin-customer';
import { ethereumCustomer } from '@quittance/testkit/ethereum-customer';
import { eventually } from '@quittance/testkit/eventually';
import { merchant } from '@quittance/testkit/merchant';
import { startReceiver } from '@quittance/testkit/receiver';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import { dumpDatabase } from './dump.ts';
import type { StoredInvoice, StoredPayout, StoredState } from './stored.ts';

/*
 * Makes what test/e2e/upgrade.test.ts upgrades: the database, the chains and the secrets of an installation that was
 * stopped in the middle of its work. The test must be given data that an older release wrote, so this runs in a checkout
 * of that release, with this folder copied into it:
 *
 *   node test/e2e/upgrade/make.ts <folder to write to>
 *
 * Takes about two minutes: an invoice's shortest time to live is one.
 */

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('give it the folder to write to');

const BASE_PORT = 19_000;
const STEP_MS = 180_000;
const ASK_EVERY_MS = 100;
const BLOCK_EVERY_MS = 700;
const CONFIRMATIONS = 3;
const paidIn = ['BTC', 'ETH', 'USDC_ERC20', 'SOL'] as const;

/** What the node makes again by itself, and its log. */
const superfluous = /^bitcoin\/regtest\/(?:0|indexes\/.*|fee_estimates\.dat|.*\.lock|.*\/LOCK)$/;

const logger = createLogger('make', 'error');
const dir = mkdtempSync(join(tmpdir(), 'quittance-upgrade-'));
const receiver = await startReceiver();
const stack = await startStack({
  dir,
  basePort: BASE_PORT,
  pace: { solanaSlotMs: 50 },
  settings: {
    gateway: { RATE_LIMIT_PER_MINUTE: '1000000' },
    invoices: { SCAN_EVERY_MS: '100' },
    payouts: { PAYOUTS_EVERY_MS: '100' },
  },
  beforeServices: async (adminUrl) => {
    const ledger = openDb({ url: adminUrl, schema: 'ledger', pool: 1, logger });
    await ledger.rows('update assets set min_confirmations = $1', [CONFIRMATIONS]);
    await ledger.close();
  },
});
const db = openDb({ url: stack.adminUrl, schema: 'public', pool: 2, logger });
try {
  const state = await untilTheStop(stack, db);
  writeFileSync(join(target, 'database.sql.gz'), gzipSync(await dumpDatabase(db), { level: 9 }));
  await db.close();
  // Engines write their chains down when they stop.
  await stack.stop();
  const stored: StoredState = { ...state, files: filesOf(dir, ['secrets.json', 'ethereum.json', 'bitcoin']) };
  writeFileSync(join(target, 'state.json.gz'), gzipSync(JSON.stringify(stored), { level: 9 }));
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
} finally {
  await stack.stop();
  await stack.engines.postgres.destroy();
  await receiver.close();
  rmSync(dir, { recursive: true, force: true });
}

/** Plays merchants and customers, then stops everything at a moment at which nothing has ended. */
async function untilTheStop({ url, nodes, engines, services, settingsOf }: Stack, admin: Db) {
  if (engines.bitcoin === undefined || nodes.solana === undefined)
    throw new Error('it needs a node of each chain');
  const customers = {
    ethereum: ethereumCustomer(nodes.ethereum.rpc, nodes.ethereum.tokens.USDC_ERC20),
    bitcoin: bitcoinCustomer(engines.bitcoin),
    solana: solanaCustomer(nodes.solana),
  };
  const customerOf = (asset: AssetSymbol) => {
    const { chain } = assets[asset];
    if (chain === 'base' || chain === 'polygon') throw new Error(`nobody pays on ${chain}`);
    return customers[chain];
  };
  let isMining = true;
  let problem: unknown;
  const mining = (async () => {
    while (isMining) {
      await Promise.all([customers.ethereum.mine(1), customers.bitcoin.mine(1)]);
      await new Promise((resolve) => setTimeout(resolve, BLOCK_EVERY_MS));
    }
  })().catch((error: unknown) => {
    problem = error;
  });

  const gateway = openDb({ url: stack.adminUrl, schema: 'gateway', pool: 1, logger });
  const account = await openAccount({ db: gateway, clock: systemClock }, 'A shop of before', 'make');
  await gateway.close();
  const shop = merchant(url, account.id, account.token);
  const endpoint = (await shop.post('/api/webhooks', { url: `${receiver.url}/hook` })).body.data;

  const invoices: StoredInvoice[] = [];
  const payouts: StoredPayout[] = [];
  const until = (what: () => Promise<boolean>, named: string) =>
    eventually(
      async () => {
        if (!(await what())) throw new Error(`never came: ${named}`);
      },
      STEP_MS,
      ASK_EVERY_MS,
    );
  async function invoice(role: StoredInvoice['role'], asset: AssetSymbol, dollars: number, more = {}) {
    const { status, body } = await shop.post('/api/invoices', { asset, amount: dollars, ...more });
    if (status !== 201) throw new Error(`${role} ${asset}: ${status} ${JSON.stringify(body)}`);
    process.stdout.write(`${role} ${asset} ${body.data.id}\n`);
    const made = {
      role,
      asset,
      id: body.data.id,
      address: body.data.address.address,
      amount: body.data.amount,
    };
    invoices.push(made);
    return made;
  }
  const statusOf = async (id: string) => (await shop.get(`/api/invoices/${id}`)).body.status as string;
  async function payout(role: StoredPayout['role'], asset: AssetSymbol, amount: string) {
    const order = { asset, amount, address: await customerOf(asset).newAddress() };
    const { status, body } = await shop.post('/api/payouts', order);
    const isKnown = role !== 'requested';
    if (isKnown ? status !== 201 : status < 500)
      throw new Error(`${role} ${asset}: ${status} ${JSON.stringify(body)}`);
    const { id } = isKnown
      ? { id: String(body.data.id) }
      : await admin.one<{ id: string }>(`select id::text from payouts.payouts where status = 'requested'`);
    payouts.push({ role, asset, id });
    return id;
  }
  const becomes = (id: string, wanted: string) =>
    until(
      async () =>
        (
          await admin.one<{ status: string }>('select status from payouts.payouts where id = $1::bigint', [
            id,
          ])
        ).status === wanted,
      `payout ${id} ${wanted}`,
    );

  // What comes late waits as unresolved.
  const late = await Promise.all(paidIn.map((asset) => invoice('late', asset, 20, { expires_in: 1 })));
  await Promise.all(
    paidIn.map(async (asset) => {
      const made = await invoice('paid', asset, 60_000);
      await customerOf(asset).pay(asset, made.address, made.amount);
      await until(async () => (await statusOf(made.id)) === 'paid', `paid ${asset}`);
      await becomes(await payout('mined', asset, '0.01'), 'mined');
      const part = await invoice('partly paid', asset, 40, { expires_in: 120 });
      await customerOf(asset).pay(asset, part.address, half(part.amount, asset));
      await until(
        async () => (await shop.get(`/api/invoices/${part.id}`)).body.paid_amount !== '0',
        `partly paid ${asset}`,
      );
      await invoice('open', asset, 30, { expires_in: 120 });
    }),
  );
  await Promise.all(
    late.map(async ({ id, asset, address, amount }) => {
      await until(async () => (await statusOf(id)) === 'expired', `expired ${asset}`);
      await customerOf(asset).pay(asset, address, amount);
    }),
  );
  await until(
    async () => (await shop.get('/api/unresolved?status=open')).body.data.length === paidIn.length,
    'unresolved',
  );

  // The ledger cannot take this deposit in, and puts its event aside.
  await admin.rows(`
    create function ledger.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused for the dump'; end $$`);
  await admin.rows(
    'create trigger refuse before insert on ledger.deposits for each row execute function ledger.refuse()',
  );
  const deadLetter = await invoice('parked', 'USDC_ERC20', 50, { expires_in: 120 });
  await customers.ethereum.pay('USDC_ERC20', deadLetter.address, deadLetter.amount);
  await until(
    async () => (await admin.rows('select 1 from ledger.parked')).length === 1,
    'the ledger parks a deposit',
  );
  await admin.rows('drop trigger refuse on ledger.deposits');
  await admin.rows('drop function ledger.refuse()');

  // From here on nothing is mined but what is named, and the shop's server refuses everything.
  isMining = false;
  await mining;
  if (problem !== undefined) throw new Error('nothing is mined any more', { cause: problem });
  receiver.answer((response) => response.writeHead(500).end());
  for (const asset of ['BTC', 'ETH', 'USDC_ERC20'] as const) {
    const seen = await invoice('seen', asset, 70, { expires_in: 120 });
    await customerOf(asset).pay(asset, seen.address, seen.amount);
    await customerOf(asset).mine(1);
    await until(async () => (await statusOf(seen.id)) === 'confirmed', `seen ${asset}`);
  }
  // Bitcoin's node alone keeps what waits for a block over a stop.
  const sighted = await invoice('in no block', 'BTC', 80, { expires_in: 120 });
  await customers.bitcoin.pay('BTC', sighted.address, sighted.amount);
  for (const asset of ['BTC', 'ETH', 'USDC_ERC20'] as const) {
    await becomes(await payout('under way', asset, asset === 'USDC_ERC20' ? '5' : '0.02'), 'broadcast');
  }
  // Without a node nothing can be signed.
  await engines.ethereum.stop();
  await becomes(await payout('under way', 'ETH', '0.05'), 'reserved');

  // Signed and never sent: the process dies between the two, and the next one has no node of that chain.
  const settings = settingsOf('payouts');
  Object.assign(settings, { CRASH_AT: 'solana.payouts.signed' });
  await services.payouts.restart();
  await becomes(await payout('under way', 'SOL', '0.5'), 'signed');
  for (const name of ['SOLANA_RPC_URL', 'SOLANA_NETWORK', 'SOLANA_USDC_MINT']) delete settings[name];
  // Asked for and not decided: the process dies before it asks the ledger.
  Object.assign(settings, { CRASH_AT: 'payouts.requested' });
  await services.payouts.restart();
  await payout('requested', 'BTC', '0.03');

  // Nobody books what is settled now, and nobody decides what is asked for now.
  const settled = await invoice('settled', 'SOL', 90, { expires_in: 120 });
  await services.ledger.stop();
  await customers.solana.pay('SOL', settled.address, settled.amount);
  await until(
    async () =>
      (
        await admin.rows(`select 1 from invoices.deposits where invoice_id = $1 and state = 'settled'`, [
          settled.id,
        ])
      ).length === 1,
    'a deposit is settled and not booked',
  );

  // What is said now never leaves its outbox.
  await engines.nats.stop();
  await invoice('open', 'ETH', 100, { expires_in: 120 });
  await Promise.all(Object.values(services).map((service) => service?.stop()));
  const counts = await admin.one<StoredState['counts']>(`
    select
      (select jsonb_object_agg(status, n) from (select status, count(*) as n from payouts.payouts group by 1) as p) as payouts,
      (select jsonb_object_agg(status, n) from (select status, count(*) as n from invoices.invoices group by 1) as i) as invoices,
      (select jsonb_object_agg(state, n) from (select state, count(*) as n from payouts.transactions group by 1) as t) as transactions,
      (select count(*)::int from ledger.parked) as parked,
      (select count(*)::int from webhooks.deliveries where state = 'waiting') as "deliveriesWaiting",
      (select count(*)::int from invoices.outbox where sent_at is null) as unsent`);
  const stoppedAt = new Date().toISOString();
  return {
    stoppedAt,
    account,
    endpoint: { id: endpoint.id, secret: endpoint.secret },
    invoices,
    payouts,
    counts,
  };
}

function half(amount: string, asset: AssetSymbol): string {
  const decimals = Math.min(assets[asset].decimals, 8);
  const [whole = '0', rest = ''] = amount.split('.');
  const units = BigInt(whole + rest.padEnd(decimals, '0').slice(0, decimals)) / 2n;
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function filesOf(root: string, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (path: string) => {
    const name = relative(root, path);
    if (superfluous.test(name)) return;
    // The states of past blocks are most of it, and nobody asks for them any more.
    const bytes =
      name === 'ethereum.json'
        ? Buffer.from(JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), historical_states: null }))
        : readFileSync(path);
    found[name] = bytes.toString('base64');
  };
  for (const name of names) {
    const path = join(root, name);
    if (name.includes('.')) add(path);
    else
      for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) add(join(entry.parentPath, entry.name));
  }
  return found;
}
