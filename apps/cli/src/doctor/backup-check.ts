import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Db } from '@quittance/shared/db';
import { timeInName, UNFINISHED } from '../backup/backup-file.ts';
import { bad, type Finding, ok, why } from './finding.ts';

const HOUR_MS = 3_600_000;

export type BackupOptions = {
  /** Where backups are written to, each a file or a folder of its own. */
  folder: string | undefined;
  /** How old the last one may be. */
  hours: number;
};

type Archiver = { mode: string; archived: Date | null; failed: Date | null; error: string | null };

/** The age of the last backup: the newest of a folder, and what Postgres' own archiver says. */
export async function checkBackups(
  { folder, hours }: BackupOptions,
  db: Db | undefined,
  now: Date,
): Promise<Finding[]> {
  const found = [
    ...(folder === undefined ? [] : [await newestIn(folder, hours, now)]),
    ...(db === undefined ? [] : await checkArchiver(db)),
  ];
  if (found.length > 0) return found;
  const remedy =
    'Name the folder that backups are written to: --backups. docs/install.md says what to back up.';
  return [bad('unknown', 'backup', 'last backup', 'not known here', remedy)];
}

async function newestIn(folder: string, hours: number, now: Date): Promise<Finding> {
  const subject = `newest in ${folder}`;
  const remedy = 'Look why no backup was made, and make one now.';
  try {
    const times = await Promise.all(
      (await readdir(folder))
        .filter((name) => !name.endsWith(UNFINISHED))
        .map(async (name) => ({ name, time: timeInName(name) ?? (await stat(join(folder, name))).mtime })),
    );
    const newest = times.toSorted((a, b) => b.time.getTime() - a.time.getTime())[0];
    if (newest === undefined) return bad('problem', 'backup', subject, 'the folder is empty', remedy);
    const age = Math.floor((now.getTime() - newest.time.getTime()) / HOUR_MS);
    const text = `${newest.name} is ${age} hours old`;
    return age >= hours ? bad('problem', 'backup', subject, text, remedy) : ok('backup', subject, text);
  } catch (error) {
    return bad('problem', 'backup', subject, why(error), 'Correct --backups.');
  }
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
