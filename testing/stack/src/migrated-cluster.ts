import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClusterTemplate } from '@quittance/engines/postgres-template';
import { migrateAll, sourcesOfMigrations } from '@quittance/shared/migrate-all';
import { ensureDatabase } from './database.ts';

const FOLDER = fileURLToPath(new URL('../../../.engines/clusters/', import.meta.url));

/** A cluster with the migrated database of a stack. Its roles are given their passwords when it is migrated once more. */
export async function migratedCluster(database: string): Promise<ClusterTemplate> {
  const sources = await sourcesOfMigrations();
  const texts = await Promise.all(
    sources.map(async (file) => [basename(file), await readFile(file, 'utf8')]),
  );
  return {
    folder: FOLDER,
    key: JSON.stringify([database, texts]),
    fill: async (url) => {
      const adminUrl = await ensureDatabase(url, database);
      await migrateAll({ adminUrl, passwordOf: () => randomBytes(24).toString('hex') });
    },
  };
}
