import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { User } from './launch-process.ts';

/**
 * What new clusters begin with. An initdb and the migrations of seven services take two seconds of a core, a copy of what they
 * have made a tenth of one: it is made once, kept for later processes, and copied.
 */
export type ClusterTemplate = {
  /** Where it is kept, one for each key; made when it is missing. */
  folder: string;
  /** All that `fill` depends on; the version of Postgres comes by itself. */
  key: string;
  /** Fills a new cluster. @param url of its superuser */
  fill(url: string): Promise<void>;
};

/** A Postgres that has made a cluster, and runs. */
type Maker = { url: string; dataDir: string; stop(): Promise<void>; destroy(): Promise<void> };

const run = promisify(execFile);
const KEPT = 'cluster';
/** Those of other keys are deleted when nobody has copied them for so long. */
const UNUSED_MS = 24 * 60 * 60_000;

/**
 * Copies the template to `to`, which there is not yet, and gives the copy to `user`. Nothing is forced to the disk: a copy
 * that is made as the power fails may have holes.
 * @param start starts a Postgres on a new cluster in this folder, for a template that is not kept yet
 * @throws what `fill` throws; then nothing is kept
 */
export async function copyTemplate(
  template: ClusterTemplate,
  { to, version, user }: { to: string; version: string; user: User | undefined },
  start: (dataDir: string) => Promise<Maker>,
): Promise<void> {
  const name = createHash('sha256').update(`${version}\n${template.key}`).digest('hex');
  const kept = path.join(template.folder, name);
  mkdirSync(template.folder, { recursive: true, mode: 0o700 });
  if (!existsSync(kept)) await makeTemplate(template, kept, start);
  const now = new Date();
  utimesSync(kept, now, now);
  await run('cp', ['-R', path.join(kept, KEPT), to]);
  if (user !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, to]);
}

/** Made beside its place, and moved there whole: several processes may make the same at once. */
async function makeTemplate(
  { folder, fill }: ClusterTemplate,
  kept: string,
  start: (dataDir: string) => Promise<Maker>,
): Promise<void> {
  const scratch = path.join(folder, randomUUID());
  mkdirSync(scratch, { mode: 0o700 });
  const whole = path.join(scratch, 'whole');
  try {
    const postgres = await start(path.join(scratch, 'made'));
    try {
      await fill(postgres.url);
      await postgres.stop();
      mkdirSync(whole, { mode: 0o700 });
      await run('cp', ['-R', postgres.dataDir, path.join(whole, KEPT)]);
    } finally {
      await postgres.destroy();
    }
    // It is kept for longer than until the next power cut.
    await run('sync', []);
    // Two cannot be moved to one place: whoever comes second copies the first one's.
    if (!existsSync(kept)) renameSync(whole, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  deleteUnused(folder);
}

function deleteUnused(folder: string): void {
  for (const name of readdirSync(folder)) {
    const one = path.join(folder, name);
    // Another process may have deleted it meanwhile.
    const usedAt = statSync(one, { throwIfNoEntry: false })?.mtimeMs;
    if (usedAt !== undefined && Date.now() - usedAt > UNUSED_MS)
      rmSync(one, { recursive: true, force: true });
  }
}
