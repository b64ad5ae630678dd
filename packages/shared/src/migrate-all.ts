import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asAdmin, closeDatabases, prepareRole } from './database-roles.ts';
import { eventRoutes, type Service, services } from './events.ts';
import { migrateService } from './migrate.ts';

export type MigrateAllOptions = {
  /** A role that may create roles and schemas, on the database that all services share. */
  adminUrl: string;
  /** The password each service's role logs in with. */
  passwordOf(service: Service): string;
  /** The operator's; nobody logs in with that role when it is not given one. */
  operatorPassword?: string | undefined;
  /** How many connections each service's role may have at once. */
  connectionsMax?: number | undefined;
};

export type Migrated = { service: Service; applied: string[] };

/** Brings every service's role, schema and tables up to date. Does nothing where nothing is missing. */
export async function migrateAll({
  adminUrl,
  passwordOf,
  operatorPassword,
  connectionsMax,
}: MigrateAllOptions): Promise<Migrated[]> {
  const done: Migrated[] = [];
  // One after the other: roles belong to the whole cluster, and a failure names the service it stopped at.
  for (const service of services) {
    const folder = folderOf(service);
    const password = passwordOf(service);
    const applied = await migrateService({ adminUrl, service, folder, password, connectionsMax });
    done.push({ service, applied });
  }
  await prepareOperator(adminUrl, operatorPassword);
  await asAdmin(adminUrl, closeDatabases);
  return done;
}

const folderOf = (service: Service): string =>
  fileURLToPath(new URL(`../../../services/${service}/migrations`, import.meta.url));

/** The files that `migrateAll` applies to a service's schema, whatever else lies beside them. */
async function migrationsOf(service: Service): Promise<string[]> {
  const folders = [fileURLToPath(new URL('../migrations', import.meta.url)), folderOf(service)];
  const files = folders.map(async (folder) => (await readdir(folder)).map((name) => join(folder, name)));
  return (await Promise.all(files)).flat().filter((file) => file.endsWith('.sql'));
}

/** The names of the files that `migrateAll` applies to a service's schema. */
export const knownMigrations = async (service: Service): Promise<string[]> =>
  (await migrationsOf(service)).map((file) => basename(file));

/** The files whose text decides what `migrateAll` makes of an empty database. */
export async function sourcesOfMigrations(): Promise<string[]> {
  const migrations = (await Promise.all(services.map(migrationsOf))).flat();
  const code = ['database-roles', 'migrate', 'migrate-all'].map((name) =>
    join(import.meta.dirname, `${name}${extname(import.meta.filename)}`),
  );
  return [...new Set(migrations), fileURLToPath(RIGHTS), ...code].sort();
}

/** Each command takes one. */
const OPERATOR_CONNECTIONS_MAX = 10;
const RIGHTS = new URL('../operator.sql', import.meta.url);

/**
 * The role of this command: it reads what the command shows and calls what it changes things with, on whatever the
 * services' migrations have made. Nobody logs in with it before it is given a password.
 */
export async function prepareOperator(adminUrl: string, password: string | undefined): Promise<void> {
  await asAdmin(adminUrl, async (client) => {
    await client.query('begin');
    await prepareRole(client, 'quittance_operator', { password, connectionsMax: OPERATOR_CONNECTIONS_MAX });
    await client.query(await readFile(RIGHTS, 'utf8'));
    await client.query('delete from operator.kinds');
    await client.query(
      `insert into operator.kinds (kind, sender, receiver)
       select kind, sender, receiver from jsonb_to_recordset($1) as k(kind text, sender text, receiver text)`,
      [JSON.stringify(eventRoutes)],
    );
    await client.query('commit');
  });
}
