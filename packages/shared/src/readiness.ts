import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { certificateProblem, isCertificateRefused } from './certificate-problem.ts';
import { sleep } from './clock.ts';
import { type Db, statement } from './db.ts';
import { isDatabaseDown } from './db-errors.ts';
import { codeOf, type Logger, reason, throttledLog } from './logger.ts';

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

/**
 * @param url what `db` connects to, to name a certificate that is refused
 * @param migrations the service's folder of numbered .sql files: all of them must have been applied, and no other.
 */
export function databaseCheck(
  { db, url, logger }: { db: Db; url: string; logger: Logger },
  migrations: URL,
): DatabaseCheck {
  const throttled = throttledLog(logger);
  let isFit = false;
  let refusal: StartRefused | undefined;
  return {
    refusal: () => refusal,
    async lacks() {
      try {
        if (isFit) {
          await db.rows('select 1');
          throttled.ended('certificate', {}, 'the certificate of the database is accepted again');
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
        if (isCertificateRefused(error)) {
          const problem = await certificateProblem(url, error, new Date());
          // Before it was fit, whoever waits for it says so.
          if (isFit)
            throttled.log('error', 'certificate', { reason: problem }, 'the database cannot be connected to');
          return `the database (${problem})`;
        }
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
  const code = codeOf(error);
  if (code === '3D000') return 'the database of DATABASE_URL to be created';
  // Postgres does not say which: migrate makes the role and gives it its password.
  if (code?.startsWith('28') === true)
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

/**
 * Why a service does not start although its settings can be read: waiting would not mend it, somebody has to. The message
 * is one line for the person who started it: what is wrong, and what to do.
 */
export class StartRefused extends Error {
  override name = 'StartRefused';
}

/** The oldest that the tests were run with. */
export const POSTGRES_WANTED = [15] as const;
/** Of migrations that are not known here, so many are named. */
const NAMED_MAX = 3;

/** An engine that lacks what this code relies on. */
export const tooOld = (engine: string, version: string, wanted: readonly number[]): StartRefused =>
  new StartRefused(`${engine} ${version} is too old, ${wanted.join('.')} or newer is needed`);

/** @param strange migrations of the database that this code does not have */
export function migratedByNewer(strange: readonly string[]): StartRefused {
  const named = strange.slice(0, NAMED_MAX).join(', ');
  const more = strange.length > NAMED_MAX ? ` and ${strange.length - NAMED_MAX} more` : '';
  return new StartRefused(
    `the database was migrated by a newer release (${named}${more} not known here): run that release, or a newer one`,
  );
}

/** A port as people know it, or an address that cannot be listened on; whatever else comes back as it was. */
export function whyNotListening(error: unknown, host: string, port: number): unknown {
  switch (codeOf(error) ?? '') {
    case 'EADDRINUSE':
      return new StartRefused(
        `port ${port} of ${host} is in use: end the process that listens there, or set PORT to another one`,
      );
    case 'EACCES':
      return new StartRefused(`port ${port} may not be listened on by this user: set PORT to 1024 or above`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefused(`HOST=${host} is no address of this machine (0.0.0.0 is all it has)`);
    default:
      return error;
  }
}

/** The first parts of a version are compared: `2.9.10` is older than `2.10.20`. */
export function isOlder(version: string, wanted: readonly number[]): boolean {
  // eslint-disable-next-line no-restricted-syntax -- the parts of a version
  const parts = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  for (const [i, part] of wanted.entries()) {
    if ((parts[i] ?? 0) !== part) return (parts[i] ?? 0) < part;
  }
  return false;
}
