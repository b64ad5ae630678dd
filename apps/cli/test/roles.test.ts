import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PostgresHandle, startPostgres } from '@quittance/engines/postgres';
import { type Service, services } from '@quittance/shared/events';
import { serviceUrl } from '@quittance/shared/migrate';
import { databaseUrl, onServer, TEST_PASSWORD } from '@quittance/testkit/databases';
import pg from 'pg';
import { quittanceIn } from './quittance-in.ts';

/** What the services' roles may do on a server of their own: roles are of the server and not of one database. */

const DENIED = '42501';
const TOO_MANY = '53300';
let postgres: PostgresHandle;
let adminUrl: string;

beforeAll(async () => {
  postgres = await startPostgres({
    dataDir: mkdtempSync(join(tmpdir(), 'quittance-roles-')),
    port: 0,
    settings: { fsync: 'off' },
  });
  await onServer(postgres.url, `create role managed login createrole createdb password '${TEST_PASSWORD}'`);
  await onServer(postgres.url, 'create database quittance owner managed');
  adminUrl = databaseUrl(postgres.url, 'quittance');
});
afterAll(async () => {
  await postgres?.destroy();
});

async function migrate(more: Record<string, string> = {}, ...args: string[]) {
  const passwords = [...services, 'operator'].map((role) => [
    `${role.toUpperCase()}_DATABASE_PASSWORD`,
    TEST_PASSWORD,
  ]);
  const env = { DATABASE_URL_ADMIN: adminUrl, ...Object.fromEntries(passwords), ...more };
  return await quittanceIn('/', env, ['migrate', ...args]);
}

const urlOf = (role: Service | 'operator', database: string): string =>
  databaseUrl(serviceUrl(adminUrl, role, TEST_PASSWORD), database);

/** The error's code when the role may not connect, or not run it; undefined when it may. */
async function refusal(url: string, sql = 'select 1'): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
    return undefined;
  } catch (error) {
    return String((error as { code?: string }).code);
  } finally {
    await client.end();
  }
}

async function expectConfined(): Promise<void> {
  for (const role of [...services, 'operator'] as const) {
    expect([role, await refusal(urlOf(role, 'quittance'))]).toEqual([role, undefined]);
    expect([role, await refusal(urlOf(role, 'quittance'), 'create temporary table mine (id int)')]).toEqual([
      role,
      DENIED,
    ]);
    for (const other of ['postgres', 'template1'])
      expect([role, other, await refusal(urlOf(role, other))]).toEqual([role, other, DENIED]);
  }
}

const limits = async () => {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const { rows } = await client.query<{ role: string; limit: number }>(
    `select substr(rolname, length('quittance_') + 1) as role, rolconnlimit as limit
     from pg_roles where rolname like 'quittance\\_%'`,
  );
  await client.end();
  return Object.fromEntries(rows.map(({ role, limit }) => [role, limit]));
};

// First: nothing is migrated yet.
test('an administrator who is no superuser brings a database of his own up to date, and then finds nothing to do', async () => {
  const own = new URL(adminUrl);
  own.username = 'managed';
  own.password = TEST_PASSWORD;
  const given = { DATABASE_URL_ADMIN: own.href };
  const first = (await migrate(given, '--json')).json();
  expect(Object.keys(first).sort()).toEqual([...services].sort());
  expect(first.gateway).toContain('1001_accounts');
  const again = await migrate(given);
  expect(again.code).toBe(0);
  expect(again.out.match(/was up to date/g)).toHaveLength(services.length);
  expect((await quittanceIn('/', given, ['account', 'create', 'first'])).code).toBe(0);
});

test('a service’s role connects to its own database alone, makes no temporary table, and not without limit', async () => {
  expect((await migrate()).code).toBe(0);
  await expectConfined();
  expect(await limits()).toEqual({
    ...Object.fromEntries(services.map((service) => [service, 60])),
    operator: 10,
  });
});

test('a database of an older release is confined when it is migrated again', async () => {
  await onServer(
    adminUrl,
    `grant connect, temporary on database quittance, postgres, template1 to public;
     ${services.map((service) => `revoke connect on database quittance from quittance_${service}; alter role quittance_${service} connection limit -1`).join(';')};
     alter role quittance_operator connection limit -1`,
  );
  expect(await refusal(urlOf('ledger', 'postgres'))).toBeUndefined();
  expect((await migrate()).code).toBe(0);
  await expectConfined();
  expect((await limits())['operator']).toBe(10);
});

test('a role that has all its connections is refused one more, and others are not', async () => {
  expect((await migrate({ DATABASE_CONNECTIONS_MAX: '2' })).code).toBe(0);
  const clients = [1, 2].map(() => new pg.Client({ connectionString: urlOf('ledger', 'quittance') }));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    expect(await refusal(urlOf('ledger', 'quittance'))).toBe(TOO_MANY);
    expect(await refusal(urlOf('payouts', 'quittance'))).toBeUndefined();
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

test.each(['0', '-1', 'many', '1.5'])('a limit of %s connections is refused by name', async (limit) => {
  const { code, err } = await migrate({ DATABASE_CONNECTIONS_MAX: limit });
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^DATABASE_CONNECTIONS_MAX is how many connections/),
  ]);
});

test('where the server has other databases, those it has from the start stay as they are', async () => {
  await onServer(postgres.url, 'create database somebody_elses');
  await onServer(postgres.url, 'grant connect on database postgres to public');
  expect((await migrate()).code).toBe(0);
  expect(await refusal(urlOf('ledger', 'postgres'))).toBeUndefined();
  expect(await refusal(urlOf('ledger', 'quittance'), 'create temporary table mine (id int)')).toBe(DENIED);
});
