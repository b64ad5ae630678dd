import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDatabaseDown } from '@quittance/shared/db';
import { reason } from '@quittance/shared/logger';
import type { Ports } from './ports.ts';
import { appliedOf } from './store.ts';

const folder = new URL('../migrations/', import.meta.url);

/**
 * Names what the gateway waits for: a database that answers, with a schema as far as this code knows it. Redis
 * is not among them: without it limits are counted here.
 */
export function readiness({ db, logger }: Pick<Ports, 'db' | 'logger'>): () => Promise<string[]> {
  let migrated = false;
  return async () => {
    try {
      if (migrated) {
        await db.rows('select 1');
        return [];
      }
      const known = (await readdir(folder)).map((name) => basename(name, '.sql'));
      const applied = await appliedOf(db, known);
      migrated = known.every((name) => applied.has(name));
      return migrated ? [] : ['the database to be migrated'];
    } catch (error) {
      logger.warn({ reason: reason(error) }, 'not ready: the database cannot be asked');
      // It answered, and knows neither our role nor our tables yet.
      return [isDatabaseDown(error) ? 'the database' : 'the database to be migrated'];
    }
  };
}
