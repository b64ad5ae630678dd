import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { freePort } from '@quittance/engines/free-port';
import { startPostgres } from '@quittance/engines/postgres';
import { type Engine, startEngine } from '@quittance/engines/process';
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
import { aQuote } from '@quittance/testkit/builders';
import pg from 'pg';
import { median } from './drive.ts';

const OUTPUTS = 5_000;
const OURS = 20;
/** Those that are paid: the same in both tables. */
const PAID = 1_000;
const ROUNDS = 20;
const WARM_UP = 3;
const PASSWORD = 'bench';
const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const QUOTE = JSON.stringify(
  aQuote({ asset: 'BTC', usd_rate: '60000', network_fee: '1000', min_confirmations: 2, dust: '1000' }),
);
const logger = createLogger('bench', 'error');

export type ScanOutcome = {
  fewAddresses: number;
  manyAddresses: number;
  /** Many against few, the median of the rounds' own ratios. */
  ratio: number;
  fewMs: number;
  manyMs: number;
};

type Fixture = { take(): Promise<number>; stop(): Promise<void> };

/**
 * The whole of what a scanner does for a block of 5,000 outputs (asking the node, reading its answer, finding what is
 * ours, writing deposits and invoices, committing) with few watched addresses and with many, in turn.
 */
export async function scanBlocks(few: number, many: number): Promise<ScanOutcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  const postgres = await startPostgres({ dataDir, port: 0 });
  const node = await stubNode();
  const worlds: Fixture[] = [];
  try {
    for (const addresses of [few, many]) worlds.push(await fixture(postgres.url, node.url, addresses));
    const [small, large] = worlds as [Fixture, Fixture];
    const rounds: { small: number; large: number }[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      await node.grow();
      // Who goes second finds the node's answer warm: they take turns in that as well.
      const isSmallFirst = round % 2 === 0;
      const first = await (isSmallFirst ? small : large).take();
      const second = await (isSmallFirst ? large : small).take();
      const took = isSmallFirst ? { small: first, large: second } : { small: second, large: first };
      if (round >= 0) rounds.push(took);
    }
    return {
      fewAddresses: few,
      manyAddresses: many,
      ratio: median(rounds.map((round) => round.large / round.small)),
      fewMs: median(rounds.map((round) => round.small)),
      manyMs: median(rounds.map((round) => round.large)),
    };
  } finally {
    for (const one of worlds) await one.stop();
    await node.engine.stop();
    await postgres.destroy();
  }
}

/** A database with so many watched addresses, and a scanner on it that has followed the chain up to now. */
async function fixture(serverUrl: string, nodeUrl: string, addresses: number): Promise<Fixture> {
  const adminUrl = await database(serverUrl, `bench_${addresses}`);
  await fill(adminUrl, addresses);
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
      leaseMs: config.LEASE_MS,
    },
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
async function fill(adminUrl: string, addresses: number): Promise<void> {
  await onDatabase(adminUrl, [
    `set search_path = invoices`,
    `insert into invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due, min_confirmations,
       dust, status, created_at, expires_at, paid_at, closed_at, address, derivation_index)
     select 'inv_' || lpad(i::text, 32, '0'), 'acc_' || i % 100, 'BTC', 'bitcoin', 2500, 60000, '${QUOTE}', 41667, 2, 1000,
       case when i < ${PAID} then 'pending' when i % 2 = 0 then 'paid' else 'expired' end,
       now(), case when i < ${PAID} then now() + interval '1 day' else now() end,
       case when i >= ${PAID} and i % 2 = 0 then now() end, case when i >= ${PAID} and i % 2 = 1 then now() end,
       'bcrt1q' || md5('ours ' || i), i
     from generate_series(0, ${addresses} - 1) as i`,
    `insert into addresses (chain, address, invoice_id, derivation_index, given_height)
     select 'bitcoin', address, id, derivation_index, 1 from invoices`,
    'vacuum analyze',
    'checkpoint',
  ]);
}

async function onDatabase(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

async function stubNode(): Promise<{ url: string; engine: Engine; grow(): Promise<void> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = fileURLToPath(new URL('./stubs/bitcoin-node.ts', import.meta.url));
  const args = [file, ...[port, OUTPUTS, OURS, PAID].map(String)];
  const engine = await startEngine({
    name: 'stub bitcoin node',
    command: () => ({ file: process.execPath, args }),
    ask: async () => void (await fetch(url)),
    stopSignal: 'SIGTERM',
  });
  return {
    url,
    engine,
    async grow() {
      const body = JSON.stringify({ id: 0, method: 'grow', params: [] });
      await (await fetch(url, { method: 'POST', body })).text();
    },
  };
}
