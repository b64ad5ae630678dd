import { chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { type NatsHandle, startNats } from '@quittance/engines/nats';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { asAdmin } from '@quittance/shared/database-roles';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { opensslCertificate } from '@quittance/testkit/openssl-certificate';
import { runServiceMain, type ServiceMain } from '@quittance/testkit/service-main';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { connectBus } from '../src/bus.ts';
import { openDb } from '../src/db.ts';
import { isDatabaseDown, UnknownOutcome } from '../src/db-errors.ts';
import { newGatewayKeys } from '../src/gateway-keys.ts';
import { createLogger } from '../src/logger.ts';

/** An engine whose certificate has expired: a service connects no more, and names the certificate with its day in one line. */

const DAY_MS = 24 * 3_600_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const EXPIRED = inDays(-10).toISOString().slice(0, 10);
const database = await suiteDatabase();
const folder = mkdtempSync(join(tmpdir(), 'quittance-certificates-'));
const expired = opensslCertificate(join(folder, 'expired'), inDays(-20), inDays(-10));
const right = opensslCertificate(join(folder, 'right'), inDays(-1), inDays(90));
let postgres: PostgresHandle;
let service: ServiceMain | undefined;

beforeAll(async () => {
  postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: 0, settings: { fsync: 'off' } });
  await useInPostgres(expired);
});
afterEach(() => service?.kill('SIGKILL'));
afterAll(async () => {
  await postgres?.destroy();
  rmSync(folder, { recursive: true, force: true });
});

/** Postgres reads its certificate again when it is told to. */
async function useInPostgres({ certificate, key }: typeof right): Promise<void> {
  const { uid, gid } = statSync(postgres.dataDir);
  for (const [from, name] of [
    [certificate, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const file = join(postgres.dataDir, name);
    copyFileSync(from, file);
    chownSync(file, uid, gid);
  }
  await asAdmin(postgres.url, async (client) => {
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
  });
}

const NOWHERE = 'http://127.0.0.1:1';
const { privateKey, publicKey } = newGatewayKeys();
const own = {
  ledger: {
    NATS_URL: 'nats://127.0.0.1:1',
    GATEWAY_PUBLIC_KEY: publicKey,
    PRICES: 'file:/nowhere/prices.json',
  },
  gateway: {
    GATEWAY_PRIVATE_KEY: privateKey,
    ...{ INVOICES_URL: NOWHERE, PAYOUTS_URL: NOWHERE, LEDGER_URL: NOWHERE, WEBHOOKS_URL: NOWHERE },
  },
};

/** What a service says of level warn and above. */
async function started(name: keyof typeof own, settings: Record<string, string>) {
  const process = runServiceMain(name, {
    PORT: String(await freePort()),
    DATABASE_URL: database.urlOf(name),
    PUBLIC_URL: 'http://localhost',
    LOG_LEVEL: 'warn',
    ...own[name],
    ...settings,
  });
  service = process;
  return () =>
    process.said.out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string });
}

/** The problem with the engine at a port, and the remedy. */
const problemAt = (port: number): string =>
  `the certificate of localhost:${port} (CN=localhost) expired on ${EXPIRED}: renew it, and restart its server`;

const trusting = (url: string, file: string, more: Record<string, string> = {}): string => {
  const own = new URL(url);
  own.hostname = 'localhost';
  for (const [name, value] of Object.entries({ ...more, sslrootcert: file }))
    own.searchParams.set(name, value);
  return own.href;
};

test('of Postgres: the service waits for another one', async () => {
  const said = await started('ledger', {
    DATABASE_URL: trusting(postgres.url, expired.certificate, { sslmode: 'verify-full' }),
  });
  const msg = `waiting for the database (${problemAt(postgres.port)}), asking again every second`;
  await eventually(() => expect(said()).toMatchObject([{ level: 'warn', msg }]));
});

test('of Postgres: a request comes back later, and a write that could not be sent is not one that may be stored', async () => {
  const url = trusting(postgres.url, expired.certificate, { sslmode: 'verify-full' });
  const db = openDb({ url, schema: 'ledger', pool: 1, logger: createLogger('test', 'silent') });
  try {
    const failure: unknown = await db
      .rows('insert into accounts values (1)')
      .catch((error: unknown) => error);
    expect([isDatabaseDown(failure), failure instanceof UnknownOutcome]).toEqual([true, false]);
  } finally {
    await db.close();
  }
});

const tls = ({ certificate, key }: typeof right): string =>
  `tls { cert_file: "${certificate}", key_file: "${key}" }`;

test('of NATS: the service waits for another one', async () => {
  const nats = await startNats({ dataDir: join(folder, 'nats'), port: 0, config: tls(expired) });
  try {
    const url = nats.url.replace('nats:', 'tls:');
    const said = await started('ledger', { NATS_URL: trusting(url, expired.certificate) });
    const msg = 'the bus is not there yet, trying again every second';
    const line = expect.objectContaining({ level: 'warn', reason: problemAt(nats.port), msg });
    await eventually(() => expect(said()).toContainEqual(line));
  } finally {
    await nats.stop();
  }
});

test('of NATS, which was restarted with it while a service was connected: it says why it cannot connect again', async () => {
  const lines: string[] = [];
  const logger = createLogger('ledger', 'info', { write: (line) => void lines.push(line) });
  const files = { certificate: join(folder, 'used.crt'), key: join(folder, 'used.key') };
  const use = (one: typeof right) => {
    copyFileSync(one.certificate, files.certificate);
    copyFileSync(one.key, files.key);
  };
  use(right);
  const nats: NatsHandle = await startNats({ dataDir: join(folder, 'nats-2'), port: 0, config: tls(files) });
  const url = trusting(nats.url.replace('nats:', 'tls:'), right.certificate);
  const bus = await connectBus({ url, service: 'ledger', logger });
  try {
    use(expired);
    await nats.restart();
    const msg = 'the bus cannot be connected to';
    const said = expect.objectContaining({ level: 'error', reason: problemAt(nats.port), msg });
    await eventually(() => expect(lines.map((line) => JSON.parse(line))).toContainEqual(said));
    use(right);
    await nats.restart();
    await eventually(() => expect(bus.connected()).toBe(true));
    expect(lines.filter((line) => line.includes('accepted again'))).toHaveLength(1);
  } finally {
    await bus.close();
    await nats.stop();
  }
});

test('of Redis: the gateway counts by itself, and says why', async () => {
  // More than its greeting is not seen of it.
  const redis = createServer({ cert: readFileSync(expired.certificate), key: readFileSync(expired.key) });
  const port = await localPort(redis);
  try {
    const said = await started('gateway', {
      REDIS_URL: trusting(`rediss://localhost:${port}`, expired.certificate),
    });
    const msg = 'Redis cannot be connected to';
    const line = expect.objectContaining({ level: 'error', reason: problemAt(port), msg });
    await eventually(() => expect(said()).toContainEqual(line));
  } finally {
    redis.close();
  }
});
