import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '@quittance/shared/db';
import { timeInName } from '../backup/backup-file.ts';
import { type StoreAddress, storeAddress } from '../backup/store-address.ts';
import type { Surroundings } from '../surroundings.ts';
import { UNFINISHED } from '../whole-file.ts';
import { bad, type Finding, ok, why } from './finding.ts';

const HOUR_MS = 3_600_000;
const STORE_ATTEMPTS = 2;
const STORE_WITHIN_MS = 15_000;

export type BackupOptions = {
  /** Where backups are written to: a folder, in which each is a file or a folder of its own, or a place in a store. */
  place: string | undefined;
  /** How old the last one may be. */
  hours: number;
};

type Archiver = { mode: string; archived: Date | null; failed: Date | null; error: string | null };

/** The age of the last backup: the newest of a folder or a store, and what Postgres' own archiver says. */
export async function checkBackups(
  around: Surroundings,
  { place, hours }: BackupOptions,
  db: Db | undefined,
  now: Date,
): Promise<Finding[]> {
  const found = [
    ...(place === undefined ? [] : [await newestIn(around, place, hours, now)]),
    ...(db === undefined ? [] : await checkArchiver(db)),
  ];
  if (found.length > 0) return found;
  const remedy =
    'Name the folder or the store that backups are written to: --backups. docs/install.md says what to back up.';
  return [bad('unknown', 'backup', 'last backup', 'not known here', remedy)];
}

type Saved = { name: string; time: Date };

async function newestIn(around: Surroundings, place: string, hours: number, now: Date): Promise<Finding> {
  const subject = `newest in ${place}`;
  const remedy = 'Look why no backup was made, and make one now.';
  try {
    const address = storeAddress(place);
    const saved = address === undefined ? await savedIn(place) : await storedAt(around, address);
    const newest = saved
      .map(({ name, time }) => ({ name, time: timeInName(name) ?? time }))
      .toSorted((a, b) => b.time.getTime() - a.time.getTime())[0];
    if (newest === undefined)
      return bad(
        'problem',
        'backup',
        subject,
        address === undefined ? 'the folder is empty' : 'there is none',
        remedy,
      );
    const age = Math.floor((now.getTime() - newest.time.getTime()) / HOUR_MS);
    const text = `${newest.name} is ${age} hours old`;
    return age >= hours ? bad('problem', 'backup', subject, text, remedy) : ok('backup', subject, text);
  } catch (error) {
    return bad('problem', 'backup', subject, why(error), 'Correct --backups.');
  }
}

async function savedIn(folder: string): Promise<Saved[]> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith(UNFINISHED));
  return await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(folder, name))).mtime })),
  );
}

async function storedAt(around: Surroundings, address: StoreAddress): Promise<Saved[]> {
  const [{ openStore }, { storedBelow }] = await Promise.all([
    import('../backup/store.ts'),
    import('../backup/read-store.ts'),
  ]);
  const store = openStore(around, address.bucket, STORE_ATTEMPTS);
  return await storedBelow(store, address, AbortSignal.timeout(STORE_WITHIN_MS));
}

/** Nothing where Postgres does not archive its log: then backups are made in another way. */
async function checkArchiver(db: Db): Promise<Finding[]> {
  const { mode, archived, failed, error } = await db.one<Archiver>(
    `select current_setting('archive_mode') as mode, last_archived_time as archived, last_failed_time as failed,
       last_failed_wal as error from pg_stat_archiver`,
  );
  if (mode === 'off') return [];
  const subject = 'log archive of Postgres';
  if (failed !== null && (archived === null || failed > archived)) {
    const found = `${error ?? 'a file'} could not be archived since ${failed.toISOString()}`;
    const remedy = "Look at Postgres' log: its archive_command fails, and its disk fills until it works.";
    return [bad('problem', 'backup', subject, found, remedy)];
  }
  return archived === null
    ? [
        bad(
          'warning',
          'backup',
          subject,
          'nothing was archived yet',
          'Run `select pg_switch_wal()` and look again.',
        ),
      ]
    : [ok('backup', subject, `the last file was archived at ${archived.toISOString()}`)];
}
