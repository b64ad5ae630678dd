import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import { sleep } from './clock.ts';
import { type Db, isDatabaseDown, statement } from './db.ts';
import { type Logger, reason } from './logger.ts';
import { isOlder, migratedByNewer, POSTGRES_WANTED, type StartRefused, tooOld } from './start-refusal.ts';
import { throttledLog } from './throttled-log.ts';

const RETRY_MS = 1_000;
/** Outbox, inbox and leases: every service has them beside its own tables. */
const SHARED_MIGRATIONS = new URL('../migrations/', import.meta.url);

const selectApplied = statement(
  'migrations_applied',
  `select current_setting('server_version') as version,
     array(select name::text from migrations order by id) as applied`,
);

/** `lacks` names what the database still needs before this code can work with it; undefined when nothing. */
export type DatabaseCheck = {
  lacks(): Promise<string | undefined>;
  /** What no waiting mends, as `lacks` has found it last: the database is newer than this code, or its engine too old. */
  refusal(): StartRefused | undefined;
};

/** @param migrations the service's folder of numbered .sql files: all of them must have been applied, and no other. */
export function databaseCheck(db: Db, migrations: URL, logger: Logger): DatabaseCheck {
  let isFit = false;
  let refusal: StartRefused | undefined;
  return {
    refusal: () => refusal,
    async lacks() {
      try {
        if (isFit) {
          await db.rows('select 1');
          return undefined;
        }
        const found = await db.one<Found>(selectApplied);
        const known = [...(await migrationsIn(SHARED_MIGRATIONS)), ...(await migrationsIn(migrations))];
        refusal = whyUnfit(found, known);
        if (refusal !== undefined) return 'a database that this release can work with';
        const applied = new Set(found.applied);
        isFit = known.every((name) => applied.has(name));
        return isFit ? undefined : 'the database to be migrated';
      } catch (error) {
        logger.debug({ reason: reason(error) }, 'the database cannot be asked');
        return isDatabaseDown(error) ? 'the database' : lackOf(error);
      }
    },
  };
}

type Found = { version: string; applied: string[] };

function whyUnfit({ version, applied }: Found, known: readonly string[]): StartRefused | undefined {
  if (isOlder(version, POSTGRES_WANTED)) return tooOld('Postgres', version, POSTGRES_WANTED);
  const strange = applied.filter((name) => !known.includes(name));
  return strange.length === 0 ? undefined : migratedByNewer(strange);
}

const migrationsIn = async (folder: URL): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).map((name) => basename(name, '.sql'));

/** A database that answers and does not have our role or our tables is not migrated. */
function lackOf(error: unknown): string {
  const code = Error.isError(error) && 'code' in error ? error.code : undefined;
  if (code === '3D000') return 'the database of DATABASE_URL to be created';
  // Postgres does not say which: migrate makes the role and gives it its password.
  if (typeof code === 'string' && code.startsWith('28'))
    return 'the database to be migrated, or another password in DATABASE_URL';
  return 'the database to be migrated';
}

/**
 * Waits until the database answers and has the tables this code knows. Throws StartRefused when it is newer than this
 * code, or its engine too old: waiting would not help.
 */
export async function untilReady(
  check: DatabaseCheck,
  logger: Logger,
  stopping?: AbortSignal,
): Promise<void> {
  const throttled = throttledLog(logger);
  while (stopping?.aborted !== true) {
    const lack = await check.lacks();
    if (lack === undefined) return;
    const refusal = check.refusal();
    if (refusal !== undefined) throw refusal;
    throttled.log('warn', lack, {}, `waiting for ${lack}, asking again every second`);
    await sleep(RETRY_MS, stopping);
  }
}

/** How long a result is reused. */
const REMEMBERED_MS = 1_000;

/**
 * One check for all requests while it runs and for a second after it. `/readyz` is public to the internal network, so the
 * database is asked at most once a second. A failed check is not reused.
 */
export function remembered<T>(
  check: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let endedAtMs = Number.POSITIVE_INFINITY;

  async function checkAgain(): Promise<T> {
    try {
      const found = await check();
      endedAtMs = nowMs();
      return found;
    } catch (error) {
      endedAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  return () => {
    if (latest !== undefined && nowMs() - endedAtMs < REMEMBERED_MS) return latest;
    endedAtMs = Number.POSITIVE_INFINITY;
    latest = checkAgain();
    return latest;
  };
}
