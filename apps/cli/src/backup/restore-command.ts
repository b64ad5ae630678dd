import { basename } from 'node:path';
import { roleOf } from '@quittance/shared/database-roles';
import { services as allServices, type Service } from '@quittance/shared/events';
import { knownMigrations } from '@quittance/shared/migrate-all';
import type pg from 'pg';
import { adminDatabase } from '../database-settings.ts';
import { actor, source } from '../operator-database.ts';
import type { SaidOutcome } from '../outcome.ts';
import { say } from '../output.ts';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { table } from '../table.ts';
import { decrypterWith } from './age-keys.ts';
import { type BackupHead, servicesOf, totalOf } from './backup-file.ts';
import { loadRecords } from './load-records.ts';
import { type BackupLines, openBackup } from './read-backup.ts';
import { appliedMigrations, type RecordTable, recordTables, withConnection } from './record-tables.ts';
import { leaveOutAddresses, pauseAllPayouts } from './restored-state.ts';

export type RestoreOrder = { file: string; identity: string; only: Service[] };

/** What migrations write into them; the rows of the backup take their place. */
const FILLED_BY_MIGRATIONS = ['ledger.assets', 'payouts.payout_number_key'];

const NO_RIGHT = '42501';

/** Writes the records of a backup into empty tables and pauses all payouts: all of it, or nothing. */
export async function restore(
  around: Surroundings,
  { file, identity, only }: RestoreOrder,
): Promise<SaidOutcome> {
  const by = actor(around);
  const backup = await openBackup(around, file, await decrypterWith(around, identity));
  const { head } = backup;
  const services = only.length === 0 ? [...allServices] : only;
  const missing = services.filter((service) => !servicesOf(head).includes(service));
  if (missing.length > 0) throw new CommandError(`The backup has no records of ${missing.join(', ')}.`);
  const restored = await withConnection(adminDatabase(around), async (client) => {
    await client.query('begin');
    await refuseWhileServicesRun(client);
    await refuseOtherTables(client, head, services);
    const tables = await recordTables(client, services);
    await refuseRecords(client, tables);
    const loaded = await load(client, backup, tables);
    await makeSafe(client, { by, services, from: `the backup of ${head.at}` });
    await client.query('commit');
    return loaded;
  });
  const rows = services.map((service) => ({ service, rows: totalOf(restored, service).rows }));
  return {
    json: {
      at: head.at,
      services: rows,
      payouts: 'paused',
    },
    text: say`${table(
      ['SERVICE', 'ROWS'],
      rows.map((one) => [one.service, String(one.rows)]),
    )}
Restored as of ${head.at}. Payouts of all assets are PAUSED, and stay so until you resume each.\n\nNext, before any service starts:\n  npx quittance restore --check\n`,
  };
}

/** The same for records that Postgres itself has brought back to another moment: pauses all payouts, before any service starts. */
export async function pauseRestored(around: Surroundings): Promise<SaidOutcome> {
  const by = actor(around);
  await withConnection(adminDatabase(around), async (client) => {
    await client.query('begin');
    await refuseWhileServicesRun(client);
    await makeSafe(client, { by, services: allServices, from: 'the log archive' });
    await client.query('commit');
  });
  return {
    json: { payouts: 'paused' },
    text: say`Payouts of all assets are PAUSED, and stay so until you resume each.\n\nNext, before any service starts:\n  npx quittance restore --check\n`,
  };
}

type Restored = { by: string; services: readonly Service[]; from: string };

/** What must be true before a service may start on restored records. */
async function makeSafe(client: pg.Client, { by, services, from }: Restored): Promise<void> {
  await leaveOutAddresses(client, services);
  await pauseAllPayouts(client, by, from);
  await client.query(`select set_config('quittance.source', $1, true)`, [source()]);
  const subject = `${services.join(', ')}, from ${from}`;
  await client.query('select operator.write_audit_log($1, $2, $3)', [by, 'restore', subject]);
}

/** One that runs would see half a restore, or write into the tables. */
async function refuseWhileServicesRun(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string }>(
    'select distinct usename as role from pg_stat_activity where datname = current_database()',
  );
  const running = allServices.filter((service) => rows.some(({ role }) => role === roleOf(service)));
  if (running.length === 0) return;
  throw new CommandError(`Stop all services first. Connected to the database: ${running.join(', ')}.`);
}

async function refuseOtherTables(
  client: pg.Client,
  { migrations }: BackupHead,
  services: readonly Service[],
): Promise<void> {
  for (const service of services) {
    const backedUp = migrations[service] ?? [];
    const found = new Set(await appliedMigrations(client, service));
    const known = new Set((await knownMigrations(service)).map((file) => basename(file, '.sql')));
    const others = [
      ...backedUp.filter((name) => !found.has(name)),
      ...[...found].filter((name) => !backedUp.includes(name)),
    ];
    const [first] = others;
    if (first === undefined) continue;
    throw new CommandError(
      known.has(first) && found.has(first)
        ? `The backup is of an older release: its ${service} lacks ${first}. Migrate an empty database with that release, restore into it, then upgrade.`
        : `The backup is of another release: its ${service} has ${first}, and this database does not. Restore with the release that has made the backup.`,
    );
  }
}

async function refuseRecords(client: pg.Client, tables: readonly RecordTable[]): Promise<void> {
  for (const { name } of tables) {
    await client.query(`lock table ${name} in access exclusive mode`);
    if (FILLED_BY_MIGRATIONS.includes(name)) continue;
    const { rows } = await client.query(`select from ${name} limit 1`);
    if (rows.length > 0)
      throw new CommandError(
        `The database is not empty: ${name} has rows. Restore into a database that only \`quittance migrate\` has seen.`,
      );
  }
}

async function load(client: pg.Client, backup: BackupLines, tables: readonly RecordTable[]) {
  try {
    // Neither triggers nor foreign keys: the rows have been through them.
    await client.query('set local session_replication_role = replica');
  } catch (error) {
    if (!(Error.isError(error) && 'code' in error && error.code === NO_RIGHT)) throw error;
    throw new CommandError(
      'To restore, the role of DATABASE_URL_ADMIN needs `grant set on parameter session_replication_role to …`, or to be a superuser.',
    );
  }
  for (const name of FILLED_BY_MIGRATIONS)
    if (tables.some((one) => one.name === name)) await client.query(`delete from ${name}`);
  const loaded = await loadRecords(client, backup, tables);
  await client.query('set local session_replication_role = origin');
  const missing = tables.filter(({ name }) => loaded[name] === undefined);
  if (missing.length > 0)
    throw new CommandError(`The backup has no rows of ${missing.map(({ name }) => name).join(', ')}.`);
  return loaded;
}
