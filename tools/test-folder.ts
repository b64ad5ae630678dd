import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. Docker gives a container 64 MB of it, which is too little. */
const IN_MEMORY = '/dev/shm';
/** What all tests together have in files at once is about 3 GB; the rest is for what they run. */
const WANTED_BYTES = 8 * 2 ** 30;
const PREFIX = 'quittance-test-';

/**
 * A folder for all that a run of tests writes, engines' data included: in memory where there is plenty, since copying a database
 * takes a fifth of the time there, else among the temporary files. Whoever made it removes it; what a run left that was killed
 * is removed by the next one.
 */
export function makeTestFolder(): string {
  const folder = mkdtempSync(join(fastFolder(), `${PREFIX}${process.pid}-`));
  // As root Postgres runs as somebody else, who has to reach its data.
  chmodSync(folder, 0o711);
  return folder;
}

/** Where files are written soonest: in memory where there is plenty, else among the temporary files. */
export const fastFolder = (): string => (holdsPlenty(IN_MEMORY) ? IN_MEMORY : tmpdir());

function holdsPlenty(inMemory: string): boolean {
  if (!existsSync(inMemory) || !mayRunPrograms(inMemory)) return false;
  removeAbandoned(inMemory);
  const { bavail, bsize } = statfsSync(inMemory);
  return bavail * bsize >= WANTED_BYTES && freemem() >= WANTED_BYTES;
}

function mayRunPrograms(mountPoint: string): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).findLast(([, at]) => at === mountPoint)?.[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** Each folder names the process that made it. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // A disk of a test is mounted in it, or another run removes it as well: the next run tries again.
    }
  }
}
