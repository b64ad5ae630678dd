import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { mayMaintain, TEST_PASSWORD } from '@quittance/testkit/databases';
import { suiteDatabase } from '@quittance/testkit/suite-database';

/*
 * What each service's role may do in the database, table by table, and some of what it may not. A new table is listed
 * here with what its service's code does to it; what the code does not do its role may not.
 */

/** Beside reading: i insert, u update, d delete. */
const everywhere = {
  dead_letters: 'iu',
  inbox: 'i',
  inbox_exceptions: 'd',
  inbox_pruning: 'iu',
  leases: 'iu',
  migrations: '',
  outbox: 'iud',
};
const allowed: Record<Exclude<Service, 'auditor'>, Record<string, string>> = {
  gateway: {
    ...everywhere,
    accounts: 'iu',
    audit_log: 'i',
    failed_requests: 'id',
    invitations: 'iu',
    memberships: 'iud',
    operators: '',
    passkey_challenges: 'id',
    passkeys: 'iud',
    people: 'iud',
    recovery_codes: 'id',
    sessions: 'iud',
    tokens: 'iu',
  },
  invoices: {
    ...everywhere,
    address_series: 'iu',
    addresses: 'iu',
    asset_choices: 'i',
    blocks: 'id',
    contradictions: 'iu',
    cursors: 'iu',
    deposits: 'iu',
    idempotency_keys: 'iud',
    invoice_settings: 'iu',
    invoices: 'iu',
    key_comparisons: 'iu',
    refunds: 'iu',
    rescans: 'u',
    mempool_payments: 'iud',
    payment_links: 'iu',
    // Its update is a lock on the row that is taken away next.
    address_pool: 'iud',
    spends: 'id',
    unchosen_invoices: 'iud',
  },
  payouts: {
    ...everywhere,
    automatic_payouts: 'iud',
    halted_assets: 'iu',
    hot_address_cursors: 'iu',
    idempotency_keys: 'iud',
    known_hot_wallets: '',
    payments: 'i',
    payout_addresses: 'iud',
    payout_batches: 'iu',
    payout_number_key: '',
    payout_policies: 'iu',
    payouts: 'iu',
    refunded_invoices: 'iu',
    refunds: 'iu',
    signing_plans: 'id',
    request_proofs: 'i',
    returned_deposits: 'iu',
    transactions: 'iu',
    unswept_deposits: 'iu',
    utxos: 'iu',
    wallet_histories: 'iu',
    wallets: 'iu',
  },
  ledger: {
    ...everywhere,
    asset_settings: 'iu',
    asset_settings_replicas: 'iud',
    assets: 'u',
    balances: 'iu',
    currency_rates: 'i',
    deposits: 'i',
    entries: 'i',
    hold_proofs: 'iu',
    holds: 'iu',
    quotes: 'iu',
    reversals: 'iu',
    transfers: 'i',
    unresolved: 'iu',
    write_offs: 'iu',
  },
  signer: {
    ...everywhere,
    cleared_payouts: 'i',
    former_destinations: '',
    non_inclusions: 'i',
    signatures: 'i',
    signed_payouts: 'i',
    spent_outpoints: 'i',
    wallets: 'i',
  },
  webhooks: {
    ...everywhere,
    accounts: 'iu',
    attempts: 'i',
    deliveries: 'iu',
    endpoint_queues: 'iud',
    endpoint_secrets: 'iud',
    endpoints: 'iu',
    events: 'i',
    mail_codes: 'id',
    mail_notifications: 'iud',
    mail_recipients: 'iud',
    mail_stops: 'iud',
    mails: 'iud',
  },
};
const owners = Object.keys(allowed) as (keyof typeof allowed)[];

const database = await suiteDatabase();
const admin = database.openAsAdmin('public', { pool: 1 });
const roles = new Map<Service, Db>(
  services.map((service) => [service, database.openAs(service, { pool: 1 })]),
);
let adminPid: number;
beforeAll(async () => {
  adminPid = (await admin.one<{ pid: number }>('select pg_backend_pid() as pid')).pid;
});

/** The error's code when the role may not; undefined when it may. Nothing of it stays. */
async function refusal(service: Service, sql: string): Promise<string | undefined> {
  const undone = new Error('undone');
  try {
    await (roles.get(service) as Db).transaction(async (trx) => {
      await trx.rows(sql);
      throw undone;
    });
  } catch (error) {
    return error === undone ? undefined : String((error as { code?: string }).code);
  }
  return undefined;
}

const DENIED = '42501';
/** There were 330 when this was written; far fewer would mean that they were not found. */
const STATEMENTS_MIN = 300;

describe.each(owners)('the role of %s', (service) => {
  test('may read its tables, and change them as far as its code does', async () => {
    const rows = await admin.rows<{ name: string; rights: string }>(
      `select c.relname as name, concat(
         case when has_any_column_privilege($2, c.oid, 'insert') then 'i' end,
         case when has_any_column_privilege($2, c.oid, 'update') then 'u' end,
         case when has_table_privilege($2, c.oid, 'delete') then 'd' end,
         case when has_table_privilege($2, c.oid, 'truncate, references, trigger, select with grant option') then '!' end,
         case when ${mayMaintain('$2', 'c.oid')} then '!' end) as rights
       from pg_class c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p')
         and has_table_privilege($2, c.oid, 'select')`,
      [service, `quittance_${service}`],
    );
    expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))).toEqual(allowed[service]);
  });

  test('sees nothing of the others', async () => {
    const seen = await admin.rows(
      `select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = any($1::text[]) and n.nspname <> $2 and c.relkind in ('r', 'p', 'v', 'S')
         and (has_schema_privilege($3, n.oid, 'usage') or has_any_column_privilege($3, c.oid, 'select')
           or has_any_column_privilege($3, c.oid, 'insert'))`,
      [services, service, `quittance_${service}`],
    );
    expect(seen).toEqual([]);
    const other = service === 'ledger' ? 'payouts' : 'ledger';
    expect(await refusal(service, `select 1 from ${other}.outbox`)).toBe(DENIED);
    expect(await refusal(service, `insert into ${other}.inbox (event_id) values ('evt_forged')`)).toBe(
      DENIED,
    );
  });

  test('is nobody else, owns nothing, and makes nothing', async () => {
    const role = `quittance_${service}`;
    const rights = await admin.one(
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
         exists (select 1 from pg_auth_members where member = r.oid) as member,
         exists (select 1 from pg_class where relowner = r.oid) as owner,
         has_schema_privilege(rolname, $2, 'create') as makes,
         has_schema_privilege(rolname, 'public', 'usage') as outside
       from pg_roles r where rolname = $1`,
      [role, service],
    );
    expect(Object.entries(rights).filter(([, has]) => has !== false)).toEqual([]);
  });

  test.each([
    ['becomes another role', (other: Service) => `set role quittance_${other}`],
    ['becomes the superuser', () => 'set role postgres'],
    ['gives itself another’s rights', (other: Service) => `grant quittance_${other} to current_user`],
    ['makes itself a superuser', () => 'alter role current_user superuser'],
    ['makes a role', () => 'create role mine login'],
    ['changes another’s password', (other: Service) => `alter role quittance_${other} password 'mine'`],
    ['makes a table', () => 'create table mine (id int)'],
    ['makes a temporary table', () => 'create temporary table mine (id int)'],
    ['makes a function', () => 'create function mine() returns int language sql as $$ select 1 $$'],
    ['makes a schema', () => 'create schema mine'],
    ['makes a database’s extension', () => 'create extension dblink'],
    ['adds a column', () => 'alter table inbox add column mine int'],
    ['drops a table', () => 'drop table inbox'],
    ['empties a table', () => 'truncate inbox'],
    ['switches triggers off', () => `set session_replication_role = 'replica'`],
    ['undoes a migration', () => 'delete from migrations'],
    ['runs a program', () => `copy (select 1) to program 'true'`],
    ['reads a file', () => `select pg_read_file('/etc/passwd')`],
    ['reads passwords', () => 'select rolpassword from pg_authid'],
    ['ends another’s connection', () => `select pg_terminate_backend(${adminPid})`],
    ['has the server read its settings anew', () => 'select pg_reload_conf()'],
  ])('%s: never', async (_what, sql) => {
    const other: Service = service === 'ledger' ? 'payouts' : 'ledger';
    expect(await refusal(service, sql(other))).toBe(DENIED);
  });
});

test('a role that may update some columns of a table may not update the others', async () => {
  const pruned = 'update accounts set pruned_through = last_sequence';
  expect(await refusal('webhooks', pruned)).toBe(DENIED);
});

test('the gateway makes nobody an operator, and calls of the operator’s functions those of the console alone', async () => {
  for (const sql of [
    "insert into operators (person_id) values ('per_1')",
    'delete from operators',
    "select operator.set_operator('a@shop.example', 'shop', true, 'gateway')",
    "select operator.retry_dead_letter('ledger', 'evt_1', 'gateway', true)",
    "select operator.write_audit_log('somebody', 'something', 'else')",
    'select * from operator.kinds',
  ])
    expect([sql, await refusal('gateway', sql)]).toEqual([sql, DENIED]);
  const called = await admin.rows(
    `select proname as name from pg_proc
     where pronamespace = 'operator'::regnamespace and has_function_privilege('quittance_gateway', oid, 'execute') order by 1`,
  );
  expect(called).toEqual([{ name: 'listed_dead_letters' }, { name: 'retry_from_console' }]);
  for (const service of services.filter((one) => one !== 'gateway'))
    expect([service, await refusal(service, 'select * from operator.listed_dead_letters(1)')]).toEqual([
      service,
      DENIED,
    ]);
});

test.each([
  'hash = hash',
  'account_id = account_id',
  'scopes = null',
  'allowed_ips = null',
  'replaces = null',
])('the gateway cannot give a token that exists more than it has: %s', async (change) => {
  expect(await refusal('gateway', `update tokens set ${change}`)).toBe(DENIED);
  expect(
    await refusal('gateway', 'update tokens set expires_at = now(), revoked_at = now()'),
  ).toBeUndefined();
});

test('nobody is let in with another’s password', async () => {
  const url = new URL(database.urlOf('ledger'));
  url.password = 'guess';
  const db = database.openAs('ledger', { url: url.href });
  await expect(db.rows('select 1')).rejects.toMatchObject({ code: '28P01' });
});

test('each statement of each service is one that its role may run', async () => {
  const script = fileURLToPath(new URL('every-statement.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, database.adminUrl, TEST_PASSWORD]);
  const { asked, refused } = JSON.parse(stdout) as { asked: number; refused: string[] };
  expect(refused).toEqual([]);
  expect(asked).toBeGreaterThan(STATEMENTS_MIN);
});
