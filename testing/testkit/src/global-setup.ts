import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateAll } from '@quittance/shared/migrate-all';
import { suiteEngines } from '@quittance/stack/engine-source';
import { databaseUrl, onServer, TEMPLATE, TEST_CONNECTIONS_MAX, TEST_PASSWORD } from './databases.ts';
import { keepServer } from './global-server.ts';

const hasty = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_connections: 400,
  timezone: 'UTC',
};

/**
 * Before all suites that need engines: one Postgres, with a migrated database that each suite copies. It
 * need not survive a power cut, so it does not wait for the disk.
 */
export default async function setUp(): Promise<void> {
  const { postgres: start } = await suiteEngines();
  const dataDir = mkdtempSync(join(tmpdir(), 'quittance-postgres-'));
  const postgres = await start({ dataDir, port: 0, settings: hasty });
  keepServer(postgres);
  await onServer(postgres.url, `create database ${TEMPLATE}`);
  await migrateAll({
    adminUrl: databaseUrl(postgres.url, TEMPLATE),
    passwordOf: () => TEST_PASSWORD,
    operatorPassword: TEST_PASSWORD,
    connectionsMax: TEST_CONNECTIONS_MAX,
  });
  // Workers are started after this and inherit it.
  process.env['TEST_POSTGRES_URL'] = postgres.url;
}
