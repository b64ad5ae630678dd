import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { ClusterTemplate } from '@quittance/engines/postgres-template';
import { migrateAll, migrationsText } from '@quittance/shared/migrate-all';
import { ensureDatabase } from './database.ts';

const FOLDER = fileURLToPath(new URL('../../../.engines/clusters/', import.meta.url));

/** A cluster with the migrated database of a stack. Its roles are given their passwords when it is migrated once more. */
export const migratedCluster = async (database: string): Promise<ClusterTemplate> => ({
  folder: FOLDER,
  key: `${database}\n${await migrationsText()}`,
  fill: async (url) => {
    const adminUrl = await ensureDatabase(url, database);
    await migrateAll({ adminUrl, passwordOf: () => randomBytes(24).toString('hex') });
  },
});
