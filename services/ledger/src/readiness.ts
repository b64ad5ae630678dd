import { readdir } from 'node:fs/promises';
import type { Bus } from '@quittance/shared/bus';
import { sleep } from '@quittance/shared/clock';
import { type Db, isDatabaseDown } from '@quittance/shared/db';
import { type Logger, reason } from '@quittance/shared/logger';
import { appliedMigrations, assetsWithoutRate } from './store-readiness.ts';

const folder = new URL('../migrations/', import.meta.url);
const RETRY_MS = 1_000;

/** What the database still lacks before this code can work with it; empty when nothing. */
async function databaseLacks(db: Db): Promise<string[]> {
  const known = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
  const names = known.map((name) => name.replace(/\.sql$/, ''));
  try {
    const applied = await appliedMigrations(db, names);
    return applied === names.length ? [] : ['the database to be migrated'];
  } catch (error) {
    // One that answered and does not know our role or our tables is there, and not migrated.
    return [isDatabaseDown(error) ? 'the database' : 'the database to be migrated'];
  }
}

/** Waits until the database answers and has the tables this code knows. */
export async function databaseReady(db: Db, logger: Logger): Promise<void> {
  let said = '';
  for (;;) {
    const [lack] = await databaseLacks(db);
    if (lack === undefined) return;
    // The same trouble once a second is one line, not one line a second.
    if (lack !== said) logger.warn(`waiting for ${lack}, asking again every second`);
    said = lack;
    await sleep(RETRY_MS);
  }
}

/** Names what the ledger waits for: database, bus, and a rate of each active asset, however old. */
export function readiness(db: Db, bus: () => Bus | undefined, logger: Logger): () => Promise<string[]> {
  return async () => {
    const waiting = await databaseLacks(db);
    if (bus()?.connected() !== true) waiting.push('the bus');
    if (waiting.length > 0) return waiting;
    try {
      return (await assetsWithoutRate(db)).map((symbol) => `a first rate of ${symbol}`);
    } catch (error) {
      logger.warn({ reason: reason(error) }, 'not ready: the database cannot be asked');
      return ['the database'];
    }
  };
}
