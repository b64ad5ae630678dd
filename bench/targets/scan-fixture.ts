import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { configSchema } from '@quittance/invoices/config';
import type { Ports } from '@quittance/invoices/ports';
import { watchChains } from '@quittance/invoices/watch-chains';
import { createScanner } from '@quittance/invoices/workers';
import { systemClock } from '@quittance/shared/clock';
import { loadConfig } from '@quittance/shared/config';
import { openDb } from '@quittance/shared/db';
import { newGatewayKeys } from '@quittance/shared/gateway-keys';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { migrateAll } from '@quittance/shared/migrate-all';
import { noTracer } from '@quittance/shared/traces';
import { aQuote } from '@quittance/testkit/builders';
import { onServer } from '../yardsticks/tpc-b.ts';

const PASSWORD = 'bench';
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const QUOTE = JSON.stringify(
  aQuote({ asset: 'BTC', usd_rate: '60000', network_fee: '1000', min_confirmations: 2, dust: '1000' }),
);
const logger = createLogger('bench', 'error');

export type ScanFixture = {
  /** Takes a block, in milliseconds. */
  take(): Promise<number>;
  /** Deposits get statistics, as Postgres makes them by itself within a minute. Without, it reads an index for each payment. */
  analyze(): Promise<void>;
  stop(): Promise<void>;
};

/** How many addresses are watched, and how many of them have open invoices, which blocks pay. */
type Watched = { addresses: number; paid: number };

/** A database with so many watched addresses, and a scanner on it that has followed the chain up to now. */
export async function openScanner(serverUrl: string, nodeUrl: string, of: Watched): Promise<ScanFixture> {
  const adminUrl = await database(serverUrl, `bench_${of.addresses}`);
  await fill(adminUrl, of);
  const config = loadConfig('invoices', configSchema, {
    PORT: '1',
    DATABASE_URL: serviceUrl(adminUrl, 'invoices', PASSWORD),
    NATS_URL: 'nats://127.0.0.1:1',
    GATEWAY_PUBLIC_KEY: newGatewayKeys().publicKey,
    PUBLIC_URL: 'http://localhost',
    BITCOIN_RPC_URL: nodeUrl,
    BITCOIN_NETWORK: 'regtest',
    BITCOIN_XPUB: openBitcoinWallet('regtest', WORDS).accountXpub,
  });
  const db = openDb({
    url: config.DATABASE_URL.reveal(),
    schema: 'invoices',
    pool: config.DATABASE_POOL,
    logger,
  });
  const notAsked = () => Promise.reject(new Error('no invoice is made in this benchmark'));
  const chains = watchChains(config.chains, { db, logger, ahead: 1, scanEveryMs: config.SCAN_EVERY_MS });
  const ports: Omit<Ports, 'bus'> = {
    db,
    clock: systemClock,
    random: randomBytes,
    logger,
    quotes: { latest: () => undefined, fresh: () => undefined },
    fiatRates: { fresh: () => undefined },
    chains,
    saveInvoice: notAsked,
    findInvoice: notAsked,
    pageVersion: notAsked,
    pageStreams: { open: () => 'too_many', count: () => 0, close: notAsked },
    settingsOf: notAsked,
    shopOf: notAsked,
    settings: {
      replica: 'bench',
      gatewayKeys: config.GATEWAY_PUBLIC_KEY,
      publicUrl: config.PUBLIC_URL,
      toleranceBps: 0,
      scanEveryMs: config.SCAN_EVERY_MS,
      scanIdleEveryMs: config.SCAN_EVERY_MS,
      leaseMs: config.LEASE_MS,
    },
    tracer: noTracer,
    wakeRelay: () => undefined,
  };
  const [watched] = chains.values();
  if (watched === undefined) throw new Error('Bitcoin is configured');
  const scanner = createScanner(ports as Ports, watched);
  while ((await scanner.step()) > 0);
  return {
    async take() {
      const start = performance.now();
      const done = await scanner.step();
      const took = performance.now() - start;
      if (done === 0) throw new Error('the scanner took no block');
      while ((await scanner.step()) > 0);
      return took;
    },
    analyze: () => onDatabase(adminUrl, ['analyze invoices.deposits']),
    async stop() {
      await scanner.leave();
      await watched.reader.close();
      await db.close();
    },
  };
}

async function database(serverUrl: string, name: string): Promise<string> {
  await onDatabase(serverUrl, [`create database ${name}`]);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrateAll({ adminUrl: url.href, passwordOf: () => PASSWORD });
  return url.href;
}

/** Invoices as they are after some years: almost all paid or expired long ago, and every address still watched. */
async function fill(adminUrl: string, { addresses, paid }: Watched): Promise<void> {
  await onDatabase(adminUrl, [
    `set search_path = invoices`,
    `insert into invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due, min_confirmations,
       dust, status, created_at, expires_at, paid_at, closed_at, address, derivation_index)
     select 'inv_' || lpad(i::text, 32, '0'), 'acc_' || i % 100, 'BTC', 'bitcoin', 2500, 60000, '${QUOTE}', 41667, 2, 1000,
       case when i < ${paid} then 'pending' when i % 2 = 0 then 'paid' else 'expired' end,
       now(), case when i < ${paid} then now() + interval '1 day' else now() end,
       case when i >= ${paid} and i % 2 = 0 then now() end, case when i >= ${paid} and i % 2 = 1 then now() end,
       'bcrt1q' || md5('ours ' || i), i
     from generate_series(0, ${addresses} - 1) as i`,
    `insert into addresses (chain, address, invoice_id, derivation_index, given_height)
     select 'bitcoin', address, id, derivation_index, 1 from invoices`,
    'vacuum analyze',
    'checkpoint',
  ]);
}

const onDatabase = (url: string, statements: readonly string[]): Promise<void> =>
  onServer(url, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
