import { fileURLToPath } from 'node:url';
import { asAdmin } from './admin-connection.ts';
import { closeDatabases } from './database-roles.ts';
import { type Service, services } from './events.ts';
import { migrateService } from './migrate.ts';
import { prepareOperator } from './operator-role.ts';

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
    const folder = fileURLToPath(new URL(`../../../services/${service}/migrations`, import.meta.url));
    const password = passwordOf(service);
    const applied = await migrateService({ adminUrl, service, folder, password, connectionsMax });
    done.push({ service, applied });
  }
  await prepareOperator(adminUrl, operatorPassword);
  await asAdmin(adminUrl, closeDatabases);
  return done;
}
