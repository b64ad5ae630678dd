import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import knex from 'knex';
import { sleep } from './clock.ts';
import { asAdmin, CONNECTIONS_MAX, prepareRole, roleOf } from './database-roles.ts';
import { codeOf } from './logger.ts';
import { isOlder, migratedByNewer, POSTGRES_WANTED, tooOld } from './readiness.ts';

const sharedMigrations = fileURLToPath(new URL('../migrations', import.meta.url));

/** A migration waits so long for a lock: whoever comes after it waits behind it. */
const LOCK_WAIT_MS = 2_000;
/** Then it lets the others pass, and tries again, so often. */
const LOCK_TRIES = 40;
const LOCK_PAUSE_MS = 1_000;

export type MigrationTarget = {
  /** A role that may create roles and schemas. */
  adminUrl: string;
  service: string;
  /** The service's own folder of numbered .sql files; outbox, inbox and leases come before them. */
  folder: string;
  /** The password the service's role logs in with. */
  password: string;
  /** How many connections the role may have at once. */
  connectionsMax?: number | undefined;
};

/** The URL a service connects with, from the administrator's and the role's password. */
export function serviceUrl(adminUrl: string, service: string, password: string): string {
  const url = new URL(adminUrl);
  url.username = roleOf(service);
  url.password = password;
  return url.href;
}

/**
 * Brings one service's schema up to date: its role, its schema, then each numbered file once, forward
 * only. The role owns nothing: it may read and write rows, and a migration takes away what its code does not need.
 * Throws StartRefused, and changes no table, when the database is newer than this code or its engine too old.
 */
export async function migrateService({
  adminUrl,
  service,
  folder,
  password,
  connectionsMax = CONNECTIONS_MAX,
}: MigrationTarget): Promise<string[]> {
  await prepareSchema(adminUrl, service, password, connectionsMax);
  const db = knex({ client: 'pg', connection: adminUrl, searchPath: [service], pool: { min: 0, max: 1 } });
  try {
    const applied = await applyAll(db, {
      migrationSource: sqlFiles([sharedMigrations, folder]),
      schemaName: service,
      tableName: 'migrations',
    });
    // Made by knex, with the rights that all new tables are given; a service reads which of them were applied.
    await db.raw('revoke all on ??, ?? from ??', [
      `${service}.migrations`,
      `${service}.migrations_lock`,
      roleOf(service),
    ]);
    await db.raw('grant select on ?? to ??', [`${service}.migrations`, roleOf(service)]);
    return applied;
  } finally {
    await db.destroy();
  }
}

/**
 * Each file in a transaction of its own: what one locked is free before the next begins. Services of the release before
 * run beside it, and lock the same tables in another order. No service uses a schema without any table yet: there all files
 * go in one transaction, which costs a fifth of the time.
 */
async function applyAll(db: knex.Knex, settings: knex.Knex.MigratorConfig): Promise<string[]> {
  const applied: string[] = [];
  for (;;) {
    // Asked each time: another migrator may have applied what was missing here.
    const [present, missing] = (await db.migrate.list(settings).catch(sayIfNewer)) as [Files, Files];
    if (missing.length === 0) return applied;
    applied.push(...(await applyMore(db, settings, present.length === 0)));
  }
}

type Files = readonly unknown[];

async function applyMore(
  db: knex.Knex,
  settings: knex.Knex.MigratorConfig,
  isNew: boolean,
): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    try {
      const done = isNew ? db.migrate.latest(settings) : db.migrate.up(settings);
      const [, applied] = (await done.catch(sayIfNewer)) as [number, string[]];
      return applied;
    } catch (error) {
      if (!isLockConflict(error) || tries === LOCK_TRIES) throw error;
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** A lock was not to be had in time (55P03), or only by breaking another's transaction (40P01). */
const isLockConflict = (error: unknown): boolean => ['55P03', '40P01'].includes(codeOf(error) ?? '');

/** In the words of knex such a database is a corrupt folder of files. */
function sayIfNewer(error: unknown): never {
  const [, strange] =
    /following files are missing: (.+)$/.exec(Error.isError(error) ? error.message : '') ?? [];
  throw strange === undefined ? error : migratedByNewer(strange.split(', '));
}

async function prepareSchema(
  adminUrl: string,
  service: string,
  password: string,
  connectionsMax: number,
): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    const version = rows[0]?.server_version ?? '';
    if (isOlder(version, POSTGRES_WANTED)) throw tooOld('Postgres', version, POSTGRES_WANTED);
    const role = client.escapeIdentifier(roleOf(service));
    const schema = client.escapeIdentifier(service);
    await client.query('begin');
    await prepareRole(client, roleOf(service), { password, connectionsMax });
    await client.query(`create schema if not exists ${schema}`);
    await client.query(`revoke all on schema public from public`);
    await client.query(`grant usage on schema ${schema} to ${role}`);
    await client.query(
      `alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${role}`,
    );
    await client.query(`alter default privileges in schema ${schema} grant usage on sequences to ${role}`);
    await client.query('commit');
  });
}

type SqlFile = { name: string; path: string };

/** Knex' migration runner over plain .sql files: the SQL stays SQL, the bookkeeping is knex'. */
function sqlFiles(folders: readonly string[]) {
  return {
    async getMigrations(): Promise<SqlFile[]> {
      const found: SqlFile[] = [];
      for (const folder of folders) {
        const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
        found.push(...names.map((name) => ({ name, path: join(folder, name) })));
      }
      return found;
    },
    getMigrationName: (file: SqlFile) => basename(file.name, '.sql'),
    async getMigration(file: SqlFile) {
      const sql = await readFile(file.path, 'utf8');
      return {
        // Without bindings knex sends the text as it stands, many statements at once.
        up: (db: knex.Knex) =>
          db.raw(`set local lock_timeout = ${LOCK_WAIT_MS};\n${sql.replaceAll('?', '\\?')}`),
        down: () => Promise.reject(new Error('migrations go forward only')),
      };
    },
  };
}
