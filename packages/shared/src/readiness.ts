import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Bus } from './bus.ts';
import { sleep } from './clock.ts';
import { type Db, isDatabaseDown, statement } from './db.ts';
import { type Logger, reason } from './logger.ts';

const RETRY_MS = 1_000;

const countApplied = statement(
  'migrations_applied',
  `select count(*)::int as applied from migrations where name = any($1::text[])`,
);

/** `lacks` names what the database still needs before this code can work with it; undefined when nothing. */
export type DatabaseCheck = { lacks(): Promise<string | undefined> };

/** @param migrations the service's folder of numbered .sql files: all of them must have been applied. */
export function databaseCheck(db: Db, migrations: URL, logger: Logger): DatabaseCheck {
  let migrated = false;
  return {
    async lacks() {
      try {
        if (migrated) {
          await db.rows('select 1');
          return undefined;
        }
        const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql'));
        const names = files.map((name) => basename(name, '.sql'));
        const { applied } = await db.one<{ applied: number }>(countApplied, [names]);
        migrated = applied === names.length;
        return migrated ? undefined : 'the database to be migrated';
      } catch (error) {
        logger.debug({ reason: reason(error) }, 'the database cannot be asked');
        // One that answered and does not know our role or our tables is there, and not migrated.
        return isDatabaseDown(error) ? 'the database' : 'the database to be migrated';
      }
    },
  };
}

/** Waits until the database answers and has the tables this code knows; the same trouble is one log line. */
export async function untilReady(check: DatabaseCheck, logger: Logger): Promise<void> {
  let said: string | undefined;
  for (;;) {
    const lack = await check.lacks();
    if (lack === undefined) return;
    if (lack !== said) logger.warn(`waiting for ${lack}, asking again every second`);
    said = lack;
    await sleep(RETRY_MS);
  }
}

/** What a service waits for, for `/readyz`: its database and the bus. */
export async function waitsForEngines(
  check: DatabaseCheck,
  bus: Pick<Bus, 'connected'> | undefined,
): Promise<string[]> {
  const lack = await check.lacks();
  return [...(lack === undefined ? [] : [lack]), ...(bus?.connected() === true ? [] : ['the bus'])];
}
