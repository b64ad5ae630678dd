import { randomBytes } from 'node:crypto';
import { networkCheck } from '@quittance/chains/network-check';
import { checkAddress, depositAddresses, paymentUri } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import { type Chain, chainKinds } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { openDb } from '@quittance/shared/db';
import type { EventKind, PayloadOf } from '@quittance/shared/events';
import { IDENTITY_HEADER, signIdentity } from '@quittance/shared/identity';
import { type AccountId, newAccountId, newEventId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import type { Quote } from '@quittance/shared/quotes';
import { onServer } from '@quittance/testkit/databases';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import pg from 'pg';
import { request } from 'undici';
import { createAddressFilter } from '../src/address-filter.ts';
import { derivedAddressPool, storedAddressPool } from '../src/address-pool.ts';
import { configSchema } from '../src/config.ts';
import { unconfirmedKeys } from '../src/operations/compare-keys.ts';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import type { WatchedChain } from '../src/ports.ts';
import { type InvoicesService, startInvoices } from '../src/service.ts';
import { nextAddressBlock } from '../src/store/addresses.ts';
import { createScanner } from '../src/workers.ts';
import { type ScriptedChain, scriptedChain } from './scripted-chain.ts';

export const SECRET = 'a secret of at least 32 characters';
export const MINUTE = 60_000;
/** The account m/44'/60'/0' of "legal winner thank year wave sausage worth useful legal winner thank yellow". */
export const XPUB =
  'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3';
/** The account m/84'/1'/0' of the same words. */
export const TPUB =
  'tpubDDA3frU31t8hSUKpX7UmhvJuDGG1r7UNzx85fQ49Xa15ax6Yby2sLQYCwCDWgdXQeb4iK8EZGKwRHDdKZTgvpHNi5WeUQn5ZBpEFSnM8FkE';
export const ETHER = 10n ** 18n;

export type FixtureOptions = {
  /** The only chain of this fixture. */
  chain?: 'ethereum' | 'bitcoin' | 'solana';
  quietMs?: number;
  /** Default: never, because most tests let hours pass between two scans. */
  outageMs?: number;
  staleMs?: number;
  gapMs?: number;
  lateMs?: number;
  /** When a missing mempool payment counts as dropped. Default: at once. */
  droppedAfterMs?: number;
  toleranceBps?: number;
  /** Payouts has not confirmed the keys of our addresses yet. */
  unconfirmed?: boolean;
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is answered and asserts on it
type Any = any;
export type ApiAnswer = { status: number; headers: Record<string, unknown>; body: Any };

export type Told = { kind: EventKind; payload: Any };

export type Fixture = Awaited<ReturnType<typeof startFixture>>;

export const aQuote = (over: Partial<Quote> & Pick<Quote, 'asset'>, now: Date): Quote => ({
  active: true,
  usd_rate: '2500',
  network_fee: '500000000000000',
  min_confirmations: 3,
  dust: '10000000000000',
  sources: [{ name: 'file', usd_rate: '2500', read_at: now.toISOString() }],
  spread_bps: 0,
  as_of: now.toISOString(),
  ...over,
});

/**
 * The invoices service on real Postgres and NATS, with a scripted chain and a clock that the test advances. Only events are
 * published automatically: tests step the workers.
 */
export async function startFixture(options: FixtureOptions = {}) {
  const { chain: chainName = 'ethereum' } = options;
  const clock = { at: new Date('2026-03-01T12:00:00.000Z'), now: () => new Date(clock.at) };
  const kind = chainKinds[chainName];
  const chain = scriptedChain(clock.now, {
    chain: chainName,
    balances: kind === 'evm',
    pending: kind !== 'evm',
  });
  const database = await testDatabase();
  const nats = await testNats();
  const logger = createLogger('invoices', 'silent');
  const quotes = new Map<string, Quote>([
    ['ETH', aQuote({ asset: 'ETH' }, clock.at)],
    [
      'USDC_ERC20',
      aQuote({ asset: 'USDC_ERC20', usd_rate: '1', network_fee: '1000000', dust: '10000' }, clock.at),
    ],
    [
      'BTC',
      aQuote(
        {
          asset: 'BTC',
          usd_rate: '50000',
          active: chainName === 'bitcoin',
          dust: '1000',
          network_fee: '1000',
        },
        clock.at,
      ),
    ],
    [
      'SOL',
      aQuote(
        { asset: 'SOL', usd_rate: '100', dust: '890880', network_fee: '5000', min_confirmations: 1 },
        clock.at,
      ),
    ],
    [
      'USDC_SOL',
      aQuote(
        { asset: 'USDC_SOL', usd_rate: '1', dust: '10000', network_fee: '1', min_confirmations: 1 },
        clock.at,
      ),
    ],
  ]);
  const board = { stale: false };
  if (options.unconfirmed !== true && kind !== 'solana') await confirmKeys(database, settings[chainName]);
  const services: InvoicesService[] = [];

  async function replica(): Promise<InvoicesService> {
    const service = await startReplica(database, nats.url, {
      clock,
      logger,
      random: randomBytes,
      quotes: {
        latest: (asset) => quotes.get(asset),
        fresh: (asset) => (board.stale ? undefined : quotes.get(asset)),
      },
      toleranceBps: options.toleranceBps ?? 0,
      watch: (db) => watchScripted(chain, db, options),
    });
    services.push(service);
    return service;
  }

  const service = await replica();
  const { ports } = service;
  const watchedChain = ports.chains.get(chainName) as WatchedChain;
  const scanner = createScanner(ports, watchedChain);
  const ledger = await connectBus({ url: nats.url, service: 'ledger', logger });
  const admin = new pg.Pool({
    connectionString: database.adminUrl,
    max: 2,
    options: '-c search_path=invoices',
  });

  async function rows(sql: string, values: unknown[] = []): Promise<Any[]> {
    return (await admin.query(sql, values)).rows;
  }

  /** Scans until the chain is synced, and expires invoices. */
  async function scan(): Promise<void> {
    while ((await scanner.step()) > 0);
    while ((await expireInvoices(ports, watchedChain)) > 0);
  }

  async function tell<K extends EventKind>(
    kind: K,
    payload: PayloadOf<K>,
    id: string = newEventId(new Date()),
  ) {
    const envelope = { id, kind, created_at: new Date().toISOString(), request_id: null, payload };
    const [stored] = await ledger.publish([
      { kind, dedupe: randomBytes(8).toString('hex'), body: JSON.stringify(envelope) },
    ]);
    if (stored !== true) throw new Error('the bus did not take the event');
    return id;
  }

  /** Acts as the ledger: credits the settled deposits and reports it. */
  async function credit(): Promise<void> {
    const due = await rows(
      'select id, invoice_id from deposits where settled_at is not null and credited_at is null',
    );
    for (const { id, invoice_id } of due) await tell('credit.recorded', { deposit_id: id, invoice_id });
    await eventually(async () => {
      const [{ n }] = await rows(
        'select count(*)::int as n from deposits where settled_at is not null and credited_at is null',
      );
      if (n > 0) throw new Error(`${n} credits were not taken in`);
    });
  }

  function merchant(account: AccountId = newAccountId(new Date())) {
    const call = (
      method: 'GET' | 'POST',
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => api(service.port, method, path, { account, body, headers, now: clock.now() });
    return {
      account,
      get: (path: string) => call('GET', path),
      post: (path: string, body: unknown, headers?: Record<string, string>) =>
        call('POST', path, body, headers),
      /** A new invoice, by default of 0.01 ETH for 25 dollars. */
      async invoice(order: object = {}): Promise<Any> {
        const answer = await call('POST', '/api/invoices', { asset: 'ETH', amount: 25, ...order });
        if (answer.status !== 201)
          throw new Error(`POST /api/invoices answers ${JSON.stringify(answer.body)}`);
        return answer.body.data;
      },
      async read(id: string): Promise<Any> {
        return (await call('GET', `/api/invoices/${id}`)).body;
      },
    };
  }

  /** An invoice of a new merchant: its address, and what its merchant reads. */
  async function anInvoice(order: object = {}) {
    const shop = merchant();
    const made = await shop.invoice(order);
    const shown: string = made.address.address;
    return {
      id: made.id as string,
      expiresAt: new Date(made.expires_at),
      shown,
      to: chainName === 'ethereum' ? shown.toLowerCase() : shown,
      read: () => shop.read(made.id),
    };
  }

  return {
    clock,
    chain,
    database,
    natsUrl: nats.url,
    service,
    ports,
    watchedChain,
    scanner,
    quotes,
    board,
    rows,
    scan,
    tell,
    credit,
    merchant,
    anInvoice,
    replica,
    /** Advances the clock of service and chain. */
    pass(ms: number) {
      clock.at = new Date(clock.at.getTime() + ms);
    },
    /** The events of an invoice in order, for its merchant and for the ledger. */
    async told(invoiceId: string): Promise<Told[]> {
      return await rows(
        `select kind, payload from outbox
         where payload->>'resource_id' = $1 or payload->>'invoice_id' = $1 order by seq`,
        [invoiceId],
      );
    },
    async stop() {
      await Promise.all(services.map((one) => one.stop()));
      await ledger.close();
      await admin.end();
      await nats.stop();
      await database.drop();
    },
  };
}

/** Stores the answer of payouts that it has the keys of our addresses. */
export async function confirmKeys(database: TestDatabase, given: ChainSettings): Promise<void> {
  if (given.kind === 'solana') throw new Error('its addresses are not derived from a public key');
  const first = depositAddresses(given, given.xpub ?? '')?.at(0);
  await onServer(
    database.adminUrl,
    `insert into invoices.key_comparisons values ('${given.chain}', '${first}', '${first}', now())`,
  );
}

type ReplicaPorts = Omit<Parameters<typeof startInvoices>[1] & object, 'chains'> & {
  toleranceBps: number;
  watch: (db: InvoicesService['ports']['db']) => WatchedChain;
};

async function startReplica(
  database: TestDatabase,
  natsUrl: string,
  given: ReplicaPorts,
): Promise<InvoicesService> {
  const config = configSchema.parse({
    PORT: '1',
    DATABASE_URL: database.urlOf('invoices'),
    NATS_URL: natsUrl,
    IDENTITY_SECRET: SECRET,
    PUBLIC_URL: 'https://pay.example/',
    ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
    ETHEREUM_CHAIN_ID: '31337',
    ETHEREUM_USDC_ADDRESS: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    ETHEREUM_XPUB: XPUB,
    LOG_LEVEL: 'silent',
    TOLERANCE_BPS: String(given.toleranceBps),
  });
  const { watch, toleranceBps: _, ...ports } = given;
  const db = openDb({
    url: config.DATABASE_URL.reveal(),
    schema: 'invoices',
    pool: 6,
    logger: createLogger('test', 'silent'),
  });
  const watched = watch(db);
  const chains = new Map<Chain, WatchedChain>([[watched.chain, watched]]);
  return await startInvoices({ ...config, PORT: 0 }, { ...ports, db, chains, workers: false });
}

export const settings = {
  ethereum: {
    kind: 'evm',
    chain: 'ethereum',
    rpcUrls: [],
    chainId: 31_337,
    usdcAddress: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    xpub: XPUB,
  },
  bitcoin: { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [], network: 'regtest', xpub: TPUB },
  solana: {
    kind: 'solana',
    chain: 'solana',
    rpcUrls: [],
    network: 'local',
    usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  },
} as const satisfies Partial<Record<Chain, ChainSettings>>;

function watchScripted(
  chain: ScriptedChain,
  db: InvoicesService['ports']['db'],
  {
    chain: name = 'ethereum',
    quietMs,
    outageMs = Number.POSITIVE_INFINITY,
    staleMs,
    gapMs,
    lateMs,
    droppedAfterMs = 0,
  }: FixtureOptions,
): WatchedChain {
  const given: ChainSettings = settings[name];
  return {
    chain: name,
    assets: new Set(configuredAssets(given)),
    reader: chain,
    network: networkCheck(chain),
    ...addressesOf(given, db),
    filter: createAddressFilter(name),
    quietMs,
    outageMs,
    staleMs,
    gapMs,
    lateMs,
    droppedAfterMs,
    uri: (asset, address, amount) => paymentUri(given, asset, address, amount),
  };
}

function addressesOf(
  given: ChainSettings,
  db: InvoicesService['ports']['db'],
): Pick<WatchedChain, 'addresses' | 'storedPool' | 'keys'> {
  if (given.kind === 'solana') {
    const isAddress = (text: string) => checkAddress(given, text) === text;
    return { addresses: storedAddressPool(db, given.chain), storedPool: { ahead: 20, isAddress } };
  }
  const derived = depositAddresses(given, given.xpub ?? '');
  if (derived === undefined) throw new Error('these chains have public keys');
  return {
    addresses: derivedAddressPool({
      addressAt: derived.at,
      nextBlock: () => nextAddressBlock(db, given.kind),
      ahead: 32,
      logger: createLogger('test', 'silent'),
    }),
    keys: unconfirmedKeys(given.chain, derived.at(0)),
  };
}

type Call = { account?: AccountId; body?: unknown; headers?: Record<string, string>; now: Date };

/** A request with the gateway's identity header. */
export async function api(
  port: number,
  method: 'GET' | 'POST' | 'HEAD',
  path: string,
  { account, body, headers = {}, now }: Call,
): Promise<ApiAnswer> {
  const answer = await request(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(account === undefined ? {} : { [IDENTITY_HEADER]: signIdentity(SECRET, { account }, now) }),
      'content-type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}
