import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Db, openDb } from '@quittance/shared/db';
import type { Service } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { migrateService, serviceUrl } from '@quittance/shared/migrate';
import { databaseUrl, onServer, TEST_CONNECTIONS_MAX, TEST_PASSWORD } from './databases.ts';

export type FormerRelease = {
  /** As the service's own role. */
  db: Db;
  /** A superuser's, of the same database. */
  adminUrl: string;
  /** Runs the migrations that came later. @returns their names */
  upgrade(): ReturnType<typeof migrateService>;
  drop(): Promise<void>;
};

/** An installation of a former release: a database of its own, with a service's migrations up to the number `last`. */
export async function formerRelease(service: Service, last: string): Promise<FormerRelease> {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined) throw new Error('no TEST_POSTGRES_URL');
  const all = fileURLToPath(new URL(`../../../services/${service}/migrations/`, import.meta.url));
  const before = mkdtempSync(join(tmpdir(), 'quittance-migrations-'));
  for (const name of readdirSync(all)) {
    if (name.slice(0, 4) <= last) cpSync(join(all, name), join(before, name));
  }
  const name = `t_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  const adminUrl = databaseUrl(server, name);
  const target = { adminUrl, service, password: TEST_PASSWORD, connectionsMax: TEST_CONNECTIONS_MAX };
  const url = serviceUrl(adminUrl, service, TEST_PASSWORD);
  const db = openDb({ url, schema: service, pool: 2, logger: createLogger('test', 'silent') });
  const drop = async () => {
    await db.close();
    await onServer(server, `drop database ${name} with (force)`);
    rmSync(before, { recursive: true });
  };
  try {
    await migrateService({ ...target, folder: before });
  } catch (error) {
    await drop();
    throw error;
  }
  return { db, adminUrl, upgrade: () => migrateService({ ...target, folder: all }), drop };
}
