import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Engine } from '@quittance/engines/process';
import { patient } from '@quittance/testkit/patience';

/*
 * A disk of an engine's own, whose power can be cut: an ext4 file system on a loop device, whose backing file is the
 * disk. What a program has written and not synced is in the memory of the file system above and not in that file, so a
 * copy of the file is what a machine finds that lost its power at that moment.
 *
 * The engine is stopped (SIGSTOP, all its processes) while the file is copied: were it running, it would acknowledge
 * what came too late for the copy, and a copy takes time in which the file changes below it. It never runs on.
 * What this disk does not do is forget what it was given and not told to flush: it is one without a volatile cache.
 */

/** The tools of file systems stand where the paths of many people do not lead. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
const run = (command: string, given: readonly string[]) => promisify(execFile)(command, given, { env });

const MEGABYTES = 512;
const WITHIN_MS = patient(10_000);
const COPIES_MAX = 50;
const WITNESS_BYTES = 64 * 1024;
/** Of /sys/block/…/stat: writes that were completed, and requests that are in flight. */
const WRITES = 4;
const IN_FLIGHT = 8;

export type DiskImage = {
  /** Where it is mounted; the engine's data lies below. */
  folder: string;
  close(): Promise<void>;
};

type Disk = DiskImage & {
  /** Puts files on it that a power cut must lose and must keep. */
  plantWitnesses(): void;
  /** Its backing file as it is now; nobody writes meanwhile but the kernel. */
  copy(): Promise<void>;
  /** The copy takes its place: what was only in memory is gone. */
  swap(): Promise<Witnessed>;
};

/** What the cut did to a file that was written just before it, and to one that was synced as well. */
export type Witnessed = { lostUnsynced: boolean; keptSynced: boolean };

/** Why this machine cannot have such a disk; undefined when it can. */
export async function whyNoDisks(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'loop devices are Linux';
  if (process.getuid?.() !== 0) return 'mounting a disk image takes root';
  const dir = mkdtempSync(join(tmpdir(), 'quittance-disk-'));
  try {
    const image = await openDisk(dir, 'try', 16);
    await image.close();
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return `a disk image cannot be mounted here: ${(stderr?.trim() || message).replaceAll('\n', ' ')}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const disks = new WeakMap<DiskImage, Disk>();

/** A new, empty disk. Postgres, which does not run as root, can get at it. */
export async function openDiskImage(name: string): Promise<DiskImage> {
  const dir = mkdtempSync(join(tmpdir(), `quittance-disk-${name}-`));
  chmodSync(dir, 0o755);
  const disk = await openDisk(dir, name, MEGABYTES);
  const image = {
    folder: disk.folder,
    async close() {
      await disk.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  disks.set(image, disk);
  return image;
}

async function openDisk(dir: string, name: string, megabytes: number): Promise<Disk> {
  const folder = join(dir, 'mounted');
  mkdirSync(folder);
  let image = join(dir, `${name}-0.img`);
  let next: string | undefined;
  let cuts = 0;
  await run('truncate', ['--size', `${megabytes}M`, image]);
  // All tables at once: what a new file system does in the background would be writes during the copy.
  await run('mkfs.ext4', ['-q', '-F', '-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0', image]);
  await run('mount', ['-o', 'loop', image, folder]);
  let [lost, kept, content] = ['', '', ''];

  return {
    folder,
    plantWitnesses() {
      content = randomBytes(WITNESS_BYTES / 2).toString('hex');
      // New names each time: a file that is rewritten in place is one that ext4 syncs by itself.
      lost = join(folder, `witness-${cuts}-unsynced`);
      kept = join(folder, `witness-${cuts}-synced`);
      // The synced one first: a sync takes the names of other new files with it.
      writeFileSync(kept, content);
      const file = openSync(kept, 'r');
      fsyncSync(file);
      closeSync(file);
      writeFileSync(lost, content);
    },
    async copy() {
      const { stdout } = await run('losetup', ['--associated', image, '--noheadings', '--output', 'NAME']);
      const stat = `/sys/block/${stdout.trim().replace('/dev/', '')}/stat`;
      cuts += 1;
      next = join(dir, `${name}-${cuts}.img`);
      for (let tries = 1; ; tries++) {
        const before = writesOf(stat);
        await run('cp', ['--sparse=always', image, next]);
        const after = writesOf(stat);
        if (after.inFlight === 0 && before.inFlight === 0 && after.writes === before.writes) return;
        if (tries === COPIES_MAX) throw new Error('the disk is written all the time, no copy of it is whole');
      }
    },
    async swap() {
      if (next === undefined) throw new Error('there is no copy to go on with');
      await unmount(folder);
      rmSync(image);
      image = next;
      next = undefined;
      await run('mount', ['-o', 'loop', image, folder]);
      return { lostUnsynced: contentOf(lost) !== content, keptSynced: contentOf(kept) === content };
    },
    async close() {
      await unmount(folder);
      rmSync(image, { force: true });
    },
  };
}

const contentOf = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8') : undefined;

function writesOf(stat: string): { writes: string | undefined; inFlight: number } {
  const fields = readFileSync(stat, 'utf8').trim().split(/\s+/);
  // eslint-disable-next-line no-restricted-syntax -- a count of the kernel's
  return { writes: fields[WRITES], inFlight: Number(fields[IN_FLIGHT]) };
}

/** The processes of an engine that was killed may need a moment to be gone. */
async function unmount(folder: string): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    try {
      await run('umount', [folder]);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

/** An engine, and the disk its data is on. */
export type Powered = { engine: Engine; disk: DiskImage };

/**
 * Cuts the power of engines, all at the same moment. They stay down, with what their disks had; `restart()` of each
 * starts it on that.
 * @param meanwhile runs while all stands still and is still seen: what is lost can be looked at then
 */
export async function cutPower(
  powered: readonly Powered[],
  during: () => Promise<void> = async () => {},
): Promise<Witnessed> {
  const parts = powered.map(({ engine, disk }) => {
    const opened = disks.get(disk);
    if (opened === undefined || engine.pid === undefined) throw new Error('there is no power to cut');
    return { engine, disk: opened, root: engine.pid };
  });
  for (const { disk } of parts) disk.plantWitnesses();
  const stopped = (await Promise.all(parts.map(({ root }) => stopAll(root)))).flat();
  await Promise.all(parts.map(({ disk }) => disk.copy()));
  await during();
  for (const { engine } of parts) engine.kill();
  for (const pid of stopped) signal(pid, 'SIGKILL');
  const witnessed = await Promise.all(parts.map(({ disk }) => disk.swap()));
  return {
    lostUnsynced: witnessed.some(({ lostUnsynced }) => lostUnsynced),
    keptSynced: witnessed.every(({ keptSynced }) => keptSynced),
  };
}

/** Stops a process and all below it, and those that they start meanwhile. Answers when each has stopped. */
async function stopAll(root: number): Promise<number[]> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const all = [root, ...descendantsOf(root)];
    const moving = all.filter((pid) => !isStopped(pid));
    if (moving.length === 0) return all;
    if (Date.now() > deadline) throw new Error(`processes ${moving.join(', ')} do not stop`);
    for (const pid of moving) signal(pid, 'SIGSTOP');
    await sleep(1);
  }
}

/** By the letter in /proc: stopped, or not there any more. */
function isStopped(pid: number): boolean {
  const { state } = statusOf(pid) ?? { state: 'X' };
  return ['T', 't', 'Z', 'X'].includes(state);
}

function descendantsOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // eslint-disable-next-line no-restricted-syntax -- a process's id
    const pid = Number(name);
    const parent = statusOf(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(root);
}

/** After the name, which is in brackets and may have brackets in it. */
function statusOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // eslint-disable-next-line no-restricted-syntax -- a process's id
    return { state, parent: Number(parent) };
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
