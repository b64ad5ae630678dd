import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { uptime } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { User } from './launch-process.ts';

/**
 * What new clusters begin with. An initdb and the migrations of seven services take two seconds of a core, a copy of what they
 * have made a tenth of one: it is made once, kept for later processes, and copied.
 */
export type ClusterTemplate = {
  /** Where it is kept, one for each key. Made when it is missing; where it cannot be written, there is no template. */
  folder: string;
  /** All that `fill` depends on. What initdb is told comes by itself. */
  key: string;
  /** Fills a new cluster. @param url of its superuser */
  fill(url: string): Promise<void>;
};

/** A Postgres that has made a cluster, and runs. */
type Maker = { url: string; dataDir: string; stop(): Promise<void>; destroy(): Promise<void> };

const run = promisify(execFile);
const KEPT = 'cluster';
/** When a template is made, those go that were copied last so long ago, and what a process has left that was killed. */
const UNUSED_MS = 24 * 60 * 60_000;

/**
 * Copies the template to `to`, which does not exist yet, and gives the copy to `user`. Nothing is forced to the disk.
 * @param how what initdb is told
 * @param start starts a Postgres on a new cluster in this folder, for a template that is not kept yet
 * @returns false where the folder of templates cannot be written: then nothing was done
 * @throws what `fill` throws; then nothing is kept
 */
export async function copyTemplate(
  template: ClusterTemplate,
  { to, how, user }: { to: string; how: readonly string[]; user: User | undefined },
  start: (dataDir: string) => Promise<Maker>,
): Promise<boolean> {
  const { folder, key } = template;
  if (!canWrite(folder)) return false;
  const name = createHash('sha256')
    .update(JSON.stringify([how, key]))
    .digest('hex');
  const kept = path.join(folder, name);
  if (!isWhole(kept)) await makeTemplate(template, kept, start);
  const now = new Date();
  utimesSync(kept, now, now);
  await run('cp', ['-R', path.join(kept, KEPT), to]);
  if (user !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, to]);
  return true;
}

function canWrite(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Since the machine was started: what was written before a power cut need not have come to the disk. */
function isWhole(kept: string): boolean {
  const madeAt = statSync(path.join(kept, KEPT, 'PG_VERSION'), { throwIfNoEntry: false })?.mtimeMs;
  return madeAt !== undefined && madeAt > Date.now() - uptime() * 1_000;
}

/** Made beside its place, and moved there whole: several processes may make the same at once, and the first one's is kept. */
async function makeTemplate(
  { folder, fill }: ClusterTemplate,
  kept: string,
  start: (dataDir: string) => Promise<Maker>,
): Promise<void> {
  const scratch = path.join(folder, randomUUID());
  const whole = path.join(scratch, 'whole');
  mkdirSync(whole, { recursive: true, mode: 0o700 });
  try {
    const postgres = await start(path.join(scratch, 'made'));
    try {
      await fill(postgres.url);
      await postgres.stop();
      await run('cp', ['-R', postgres.dataDir, path.join(whole, KEPT)]);
    } finally {
      await postgres.destroy();
    }
    if (!isWhole(kept)) {
      moveAway(kept, path.join(scratch, 'former'));
      moveThere(whole, kept);
    }
    for (const name of readdirSync(folder)) {
      const one = path.join(folder, name);
      const usedAt = statSync(one, { throwIfNoEntry: false })?.mtimeMs;
      if (usedAt !== undefined && Date.now() - usedAt > UNUSED_MS) moveAway(one, path.join(scratch, name));
    }
  } finally {
    // What goes was moved here first: a deletion that is cut off leaves no half template.
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Another process may have moved it before. */
function moveAway(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Another process may have moved its own there: that is as good. */
function moveThere(whole: string, kept: string): void {
  try {
    renameSync(whole, kept);
  } catch (error) {
    if (!isWhole(kept)) throw error;
  }
}
