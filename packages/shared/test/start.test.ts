import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, jest, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';
import { localPort } from '@quittance/testkit/local-port';
import { patient } from '@quittance/testkit/patience';
import { runServiceMain } from '@quittance/testkit/service-main';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import type { Db } from '../src/db.ts';
import { type Service, services } from '../src/events.ts';
import { newGatewayKeys } from '../src/gateway-keys.ts';
import { createLogger } from '../src/logger.ts';
import { databaseCheck, isOlder, untilReady } from '../src/readiness.ts';
import { TIMES_AS_FAST } from './times-as-fast.ts';

/** What keeps a service from starting is one line on standard error that names it, and it ends with 1. How a service ends is last. */

const database = await suiteDatabase();
/** It does nothing and never ends. */
const SERVICE = fileURLToPath(new URL('./lifecycle-process.ts', import.meta.url));

const NOWHERE = 'http://127.0.0.1:1';
const own: Record<Service, Record<string, string>> = {
  gateway: { INVOICES_URL: NOWHERE, PAYOUTS_URL: NOWHERE, LEDGER_URL: NOWHERE, WEBHOOKS_URL: NOWHERE },
  invoices: {},
  payouts: {
    CLAIM_LINKS_SECRET: 'c'.repeat(32),
    ETHEREUM_HOT_ADDRESS: `0x${'00'.repeat(20)}`,
    ETHEREUM_RPC_URL: NOWHERE,
    ETHEREUM_CHAIN_ID: '31337',
  },
  ledger: { PRICES: 'file:/nowhere/prices.json' },
  webhooks: { WEBHOOK_SECRETS_KEY: 'w'.repeat(32) },
  signer: {
    WALLET_SEED: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
    ETHEREUM_RPC_URL: NOWHERE,
    ETHEREUM_CHAIN_ID: '31337',
  },
  auditor: {},
};

const { privateKey, publicKey } = newGatewayKeys();

const settingsOf = async (service: Service, other: Record<string, string> = {}) => ({
  PORT: String(await freePort()),
  DATABASE_URL: database.urlOf(service),
  NATS_URL: 'nats://127.0.0.1:1',
  ...(service === 'gateway' ? { GATEWAY_PRIVATE_KEY: privateKey } : { GATEWAY_PUBLIC_KEY: publicKey }),
  PUBLIC_URL: 'http://localhost',
  ...own[service],
  ...other,
});

/** It ends with code 1, and answers all that it says on standard error. */
async function refused(...given: Parameters<typeof runServiceMain>): Promise<string> {
  const { said, ended, kill } = runServiceMain(...given);
  const slow = setTimeout(kill, patient(10_000), 'SIGKILL');
  const { code } = await ended;
  clearTimeout(slow);
  expect({ code, said: said.err }).toMatchObject({ code: 1 });
  return said.err;
}

/** The same of what ends before it has begun anything, in this process: most of what a process of its own does is to load. */
async function refusedHere(service: Service, settings: Record<string, string>): Promise<string[]> {
  const main = new URL(`../../../services/${service}/src/main.ts`, import.meta.url).href;
  const said: string[] = [];
  const ended = new Error('the process ends');
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
    throw ended;
  });
  const write = jest.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  const handled = ['SIGTERM', 'SIGINT', 'uncaughtException'] as const;
  const events: NodeJS.EventEmitter = process;
  const before = handled.map((event) => events.listeners(event));
  const environment = process.env;
  process.env = settings;
  try {
    await expect(import(main)).rejects.toBe(ended);
    expect(exit.mock.calls).toEqual([[1]]);
    return said;
  } finally {
    process.env = environment;
    exit.mockRestore();
    write.mockRestore();
    for (const [index, event] of handled.entries())
      for (const listener of events.listeners(event))
        if (before[index]?.includes(listener) !== true)
          events.removeListener(event, listener as (...given: unknown[]) => void);
  }
}

test.each([...services])(
  '%s names what is missing of its settings before anything starts',
  async (service) => {
    const { DATABASE_URL: _, ...others } = await settingsOf(service);
    expect(await refusedHere(service, others)).toEqual([
      `${service} cannot start, its configuration is wrong:\n  DATABASE_URL: is required\n`,
    ]);
  },
);

// The services start by the same function; the gateway alone serves without a database.
test.each(['ledger', 'gateway'] as const)('%s does not start on a port that is in use', async (service) => {
  const server = createServer();
  const port = await localPort(server);
  try {
    expect(await refused(service, await settingsOf(service, { PORT: String(port) }))).toBe(
      `${service} cannot start: port ${port} of 127.0.0.1 is in use: end the process that listens there, or set PORT to another one\n`,
    );
  } finally {
    server.close();
  }
});

/** Migrations that only a newer release knows, while this lasts. */
async function withNewerDatabase(service: Service, names: readonly string[], work: () => Promise<void>) {
  const rows = names.map((name) => `('${name}', 99)`).join();
  await onServer(database.adminUrl, `insert into ${service}.migrations (name, batch) values ${rows}`);
  try {
    await work();
  } finally {
    await onServer(database.adminUrl, `delete from ${service}.migrations where batch = 99`);
  }
}

test('a service does not start on a database that is newer than it knows', () =>
  withNewerDatabase('ledger', ['9001_of_tomorrow', '9002_and_more'], async () => {
    expect(await refused('ledger', await settingsOf('ledger'))).toBe(
      'ledger cannot start: the database was migrated by a newer release (9001_of_tomorrow, 9002_and_more not known here): run that release, or a newer one\n',
    );
  }));

test('a database that turns out to be newer only when it is back ends the gateway all the same', async () => {
  const name = new URL(database.urlOf('gateway')).pathname.slice(1);
  const admin = new URL(database.adminUrl);
  admin.pathname = '/postgres';
  await onServer(admin.href, `alter database ${name} allow_connections false`);
  const said = refused('gateway', await settingsOf('gateway'));
  await onServer(admin.href, `alter database ${name} allow_connections true`);
  await withNewerDatabase('gateway', ['9001_of_tomorrow'], async () =>
    expect(await said).toMatch(/^gateway cannot start: .*9001_of_tomorrow not known here.*\n$/),
  );
});

describe('an engine that is too old', () => {
  test('Node', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
    const child = spawn(process.execPath, [...node, SERVICE, '1'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = text(child.stderr);
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(await said).toBe('stubborn cannot start: Node 22.18.0 is too old, 24 or newer is needed\n');
  });

  test('nats-server', async () => {
    const old = createServer((socket) => {
      socket.write(`INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576}\r\n`);
      socket.on('data', (data) => {
        if (String(data).includes('PING')) socket.write('PONG\r\n');
      });
      socket.on('error', () => socket.destroy());
    });
    const url = `nats://127.0.0.1:${await localPort(old)}`;
    try {
      expect(await refused('ledger', await settingsOf('ledger', { NATS_URL: url }))).toBe(
        'ledger cannot start: nats-server 2.9.10 is too old, 2.10.20 or newer is needed\n',
      );
    } finally {
      old.close();
    }
  });

  test('Postgres', async () => {
    const one = async () => ({ version: '14.19 (Debian 14.19-1)', applied: [] });
    const logger = createLogger('test', 'silent');
    const check = databaseCheck(
      { db: { one } as unknown as Db, url: database.urlOf('ledger'), logger },
      new URL('../migrations/', import.meta.url),
    );
    await expect(untilReady(check, logger)).rejects.toThrow(
      'Postgres 14.19 (Debian 14.19-1) is too old, 15 or newer is needed',
    );
  });

  test.each([
    ['2.9.10', [2, 10, 20], true],
    ['2.10.19', [2, 10, 20], true],
    ['2.10.20-beta.1', [2, 10, 20], false],
    ['2.12.0', [2, 10, 20], false],
    ['15.14 (Debian 15.14-0+deb12u1)', [15], false],
    ['14.9', [15], true],
    ['18', [15], false],
  ])('%s against %j', (version, wanted, older) => {
    expect(isOlder(version, wanted)).toBe(older);
  });
});

test('a role that Postgres does not let in is told apart from one that has no tables', async () => {
  const logger = createLogger('test', 'silent');
  const failing = (code: string) =>
    databaseCheck(
      {
        db: { one: () => Promise.reject(Object.assign(new Error('no'), { code })) } as unknown as Db,
        url: database.urlOf('ledger'),
        logger,
      },
      new URL('../migrations/', import.meta.url),
    ).lacks();
  expect(await failing('28P01')).toBe('the database to be migrated, or another password in DATABASE_URL');
  expect(await failing('3D000')).toBe('the database of DATABASE_URL to be created');
  expect(await failing('42P01')).toBe('the database to be migrated');
});

test('a full disk under the log is said once, and the service goes on without', async () => {
  const env = await settingsOf('ledger', { LOG_LEVEL: 'debug' });
  const { said, ended, kill } = runServiceMain('ledger', env, { stdout: openSync('/dev/full', 'w') });
  try {
    const { PORT: port } = env;
    await eventually(async () =>
      expect((await fetch(`http://127.0.0.1:${port}/readyz`)).headers.get('x-request-id')).toBeTruthy(),
    );
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(said.err).toMatch(
      /^ledger: the log cannot be written, its lines are lost until it can be: ENOSPC: no space left on device, write\n$/,
    );
    kill('SIGTERM');
    expect((await ended).code).toBe(0);
  } finally {
    kill('SIGKILL');
  }
});

const DRAIN_MS = 10_000 / TIMES_AS_FAST;
/** Ten seconds become more than a test may take. */
const ENDLESSLY_SLOW = 0.01;

/** It has been told to end. */
async function stubborn(timesAsFast: number) {
  const child = spawn(process.execPath, [SERVICE, String(timesAsFast)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  expect(String(await once(child.stdout, 'data'))).toBe('runs\n');
  const toldAt = performance.now();
  child.kill('SIGTERM');
  expect(String(await once(child.stdout, 'data'))).toBe('stops\n');
  return { child, ended, toldAt };
}

test('what does not end when it is told to is ended after ten seconds, and at once when it is told again', async () => {
  const [toldOnce, toldTwice] = await Promise.all([stubborn(TIMES_AS_FAST), stubborn(ENDLESSLY_SLOW)]);
  try {
    toldTwice.child.kill('SIGTERM');
    expect(await toldTwice.ended).toEqual([1, null]);
    expect(await toldOnce.ended).toEqual([1, null]);
    const took = performance.now() - toldOnce.toldAt;
    expect(took).toBeGreaterThan(DRAIN_MS - 10);
    // As much again and more for a busy machine, and less than twice the limit where nothing else runs.
    expect(took).toBeLessThan(patient(2 * DRAIN_MS));
  } finally {
    for (const { child } of [toldOnce, toldTwice]) child.kill('SIGKILL');
  }
}, 30_000);

test('an error that nothing handles is one line of the log, and the process ends', async () => {
  const child = spawn(process.execPath, [SERVICE, String(ENDLESSLY_SLOW)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => {
    said += String(data);
    if (said === 'runs\n') child.kill('SIGUSR2');
  });
  try {
    expect(await once(child, 'close')).toEqual([1, null]);
    const [, line = '', rest] = said.split('\n');
    expect(JSON.parse(line)).toMatchObject({
      level: 'fatal',
      service: 'stubborn',
      err: { message: 'a defect, with "quotes"' },
      msg: 'an error that nothing handles, the process ends',
    });
    expect(rest).toBe('');
  } finally {
    child.kill('SIGKILL');
  }
});
