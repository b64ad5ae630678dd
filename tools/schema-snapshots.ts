import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@quittance/engines/postgres';
import { openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { migrateAll } from '@quittance/shared/migrate-all';
import { describeSchema, snapshotText } from '@quittance/shared/schema-snapshot';
import { root } from './tracked-files.ts';

/**
 * node tools/schema-snapshots.ts
 *
 * Migrates a new database and writes what each service's schema is then into services/<service>/schema.sql, which
 * `quittance doctor --schema` compares a running database with. apps/cli/test/doctor-schema.test.ts fails when one differs.
 */
const HEADER = `-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- \`quittance doctor --schema\` compares a running database with it. Nothing executes this file.

`;

const postgres = await startPostgres({
  dataDir: mkdtempSync(join(tmpdir(), 'quittance-schema-')),
  port: 0,
  settings: { fsync: 'off', synchronous_commit: 'off' },
});
try {
  await migrateAll({ adminUrl: postgres.url, passwordOf: () => 'snapshot', operatorPassword: 'snapshot' });
  const logger = createLogger('schema', 'error');
  const db = openDb({ url: postgres.url, schema: 'pg_catalog', pool: 1, logger });
  for (const service of services) {
    const text = snapshotText(await describeSchema(db, service));
    writeFileSync(join(root, 'services', service, 'schema.sql'), `${HEADER}${text}`);
  }
  await db.close();
} finally {
  await postgres.destroy();
}
