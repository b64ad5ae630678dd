// Finds nats-server and redis-server for the set-up, or fetches them into .engines/ without root and
// without touching the system. What was found is written to .engines/engines.json, which is where
// testing/engines reads it. Integrity: apt checks Debian's signatures and hashes itself, and the
// vendor's archive is held against a hash that stands here.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ENGINES_DIR, onPath, readJson, run } from './commands.mjs';
import { aptFor, libraryPath, must, osRelease, unpackDebs } from './debian.mjs';

// 2.10.20 is the oldest with every fix the message bus relies on; Debian 12's own 2.9 lacks sync_interval.
const NATS_VERSION_MIN = [2, 10, 20];
const REDIS_VERSION_MIN = [6, 2, 0];

// Debian 13 has 2.10.27; the binary also runs on Debian 12 (it needs glibc 2.34).
const DEBIAN_SUITE_WITH_NATS = 'trixie';
// The hashes are those the vendor's own container images are built with. Where there is none (macOS), the
// archive is held against the release's SHA256SUMS, which guards the transfer but not the release.
const VENDOR_NATS_VERSION = '2.10.29';
const VENDOR_NATS_URL = `https://github.com/nats-io/nats-server/releases/download/v${VENDOR_NATS_VERSION}`;
const VENDOR_NATS_SHA256 = {
  'linux-amd64': 'e314da74a83a1d3876db8814c27eb990fe729640fd6452025b441bcede8390da',
  'linux-arm64': 'da4b27942ecfb4c5f0c54553d2e7f470ddda9d7581cfe8131b351a0e223ed401',
};

const DOWNLOAD_TIMEOUT_MS = 120_000;
/**
 * A recorded engine counts while its file is there and it came from where it would be looked for now:
 * NATS_SERVER_PATH and REDIS_SERVER_PATH override everything, also what was found before they were set.
 */
export function enginesAreReady() {
  const found = readJson(path.join(ENGINES_DIR, 'engines.json'));
  if (!natsIsReady(found)) return false;
  return isRecorded(found.redisServer, process.env.REDIS_SERVER_PATH) || isRecentlyMissing(found.redisServer);
}

export function natsIsReady(found = readJson(path.join(ENGINES_DIR, 'engines.json'))) {
  return isRecorded(found?.natsServer, process.env.NATS_SERVER_PATH);
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

/**
 * Finds or fetches both engines and records them. Without nats-server nothing works, so its problem is
 * returned for the person to read; without Redis only the tests that need it fail, so that is said and
 * noted with the hour. With `redis: false` only nats-server is looked for.
 *
 * @param {{ enginesDir: string, env: NodeJS.ProcessEnv, path: string, say: (message: string) => void, redis?: boolean }} setup
 * @returns {Promise<string | undefined>} the problem, undefined when all is well
 */
export async function findEngines(setup) {
  sweepScratch(setup.enginesDir);
  const [nats, redis] = await Promise.all([
    natsServer(setup),
    setup.redis === false ? {} : redisServer(setup),
  ]);
  if (redis.problem) setup.say(redis.problem);
  if (nats.problem) return nats.problem;
  const redisEntry = redis.problem
    ? { missingSince: new Date().toISOString(), problem: redis.problem }
    : redis.engine;
  const record = { natsServer: nats.engine, redisServer: redisEntry };
  const file = path.join(setup.enginesDir, 'engines.json');
  fs.writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`);
  fs.renameSync(`${file}.new`, file);
  return undefined;
}

// --- nats-server -------------------------------------------------------------------------------

async function natsServer(setup) {
  const override = setup.env.NATS_SERVER_PATH;
  if (override) return await theOverride('NATS_SERVER_PATH', override, NATS_VERSION_MIN);
  const own = await firstGood(onPath(['nats-server'], setup.path), NATS_VERSION_MIN);
  if (own) return { engine: { ...own, source: 'path' } };
  const folder = path.join(setup.enginesDir, 'nats-server');
  const before = await firstGood([path.join(folder, 'nats-server')], NATS_VERSION_MIN);
  if (before) return fetched(setup, before, 'kept');
  setup.say('fetching nats-server …');
  const attempts = [];
  for (const [name, fetchInto] of [
    ['Debian', natsFromDebian],
    ['the vendor', natsFromVendor],
  ]) {
    const outcome = await attempt(setup, folder, fetchInto, ['nats-server'], NATS_VERSION_MIN);
    if (outcome.engine) return fetched(setup, outcome.engine, name);
    attempts.push(`  from ${name}: ${outcome.problem}`);
  }
  return { problem: natsChoices(attempts) };
}

function natsChoices(attempts) {
  return [
    `nats-server ${NATS_VERSION_MIN.join('.')} or newer is needed, and none was found on the PATH. Fetching one failed:`,
    ...attempts,
    'Choose one of these, then try again:',
    '  - put nats-server on the PATH (https://docs.nats.io/running-a-nats-service/introduction/installation;',
    '    on macOS: brew install nats-server)',
    '  - or say where it is: NATS_SERVER_PATH=/path/to/nats-server npm start',
  ].join('\n');
}

async function natsFromDebian(setup, scratch) {
  const apt = await aptFor(scratch, DEBIAN_SUITE_WITH_NATS, setup);
  await apt(['download', 'nats-server']);
  await unpackDebs(scratch, scratch);
  fs.renameSync(
    path.join(scratch, 'root', 'usr', 'sbin', 'nats-server'),
    path.join(scratch, 'out', 'nats-server'),
  );
}

async function natsFromVendor(setup, scratch) {
  const os = { linux: 'linux', darwin: 'darwin' }[process.platform];
  const arch = { x64: 'amd64', arm64: 'arm64', arm: 'arm7', ia32: '386' }[process.arch];
  if (!os || !arch) throw new Error(`there is no release for ${process.platform} ${process.arch}`);
  const name = `nats-server-v${VENDOR_NATS_VERSION}-${os}-${arch}`;
  const archive = path.join(scratch, `${name}.tar.gz`);
  await download(`${VENDOR_NATS_URL}/${name}.tar.gz`, archive, setup);
  const wanted =
    VENDOR_NATS_SHA256[`${os}-${arch}`] ?? (await publishedHash(`${name}.tar.gz`, scratch, setup));
  const found = createHash('sha256').update(fs.readFileSync(archive)).digest('hex');
  if (found !== wanted)
    throw new Error(`${name}.tar.gz has the sha256 ${found}, ${wanted} was expected: not used`);
  await must('tar', ['-xzf', archive, '-C', scratch]);
  fs.renameSync(path.join(scratch, name, 'nats-server'), path.join(scratch, 'out', 'nats-server'));
}

async function publishedHash(file, scratch, setup) {
  const sums = path.join(scratch, 'SHA256SUMS');
  await download(`${VENDOR_NATS_URL}/SHA256SUMS`, sums, setup);
  const line = fs
    .readFileSync(sums, 'utf8')
    .split('\n')
    .find((text) => text.trim().endsWith(file));
  if (!line) throw new Error(`the release's SHA256SUMS does not name ${file}`);
  return line.trim().split(/\s+/)[0];
}

/** curl knows the machine's proxies and certificates; Node's fetch is for machines without it. */
async function download(url, file, setup) {
  const curl = onPath(['curl'], setup.path)[0];
  if (curl) {
    await must(curl, ['-fsSL', '--retry', '2', '--connect-timeout', '15', '-o', file, url]);
    return;
  }
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  fs.writeFileSync(file, Buffer.from(await response.arrayBuffer()));
}

// --- redis-server ------------------------------------------------------------------------------

async function redisServer(setup) {
  const override = setup.env.REDIS_SERVER_PATH;
  if (override) return await theOverride('REDIS_SERVER_PATH', override, REDIS_VERSION_MIN);
  const own = await firstGood(onPath(['redis-server', 'valkey-server'], setup.path), REDIS_VERSION_MIN);
  if (own) return { engine: { ...own, source: 'path' } };
  const folder = path.join(setup.enginesDir, 'redis-server');
  const names = ['usr/bin/redis-server', 'usr/bin/valkey-server'];
  const before = await firstGood(
    names.map((name) => path.join(folder, name)),
    REDIS_VERSION_MIN,
    libraryPath(folder),
  );
  if (before) return fetched(setup, before, 'kept');
  setup.say('fetching redis-server (for the tests) …');
  const outcome = await attempt(setup, folder, redisFromDebian, names, REDIS_VERSION_MIN);
  if (outcome.engine) return fetched(setup, outcome.engine, 'Debian');
  return {
    problem:
      'no redis-server: the tests that share a rate limit through Redis will fail, all else works. ' +
      `Install it, or set REDIS_SERVER_PATH. (${outcome.problem})`,
  };
}

/**
 * Takes redis-server and whichever of its libraries this machine lacks from the machine's own release: its
 * libraries have to fit the system's libc. apt works that out from the list of installed packages.
 */
async function redisFromDebian(setup, scratch) {
  const release = osRelease();
  if (release.ID !== 'debian' || !release.VERSION_CODENAME) {
    throw new Error(`this is ${release.PRETTY_NAME ?? process.platform}, it is only fetched on Debian`);
  }
  const apt = await aptFor(scratch, release.VERSION_CODENAME, setup);
  const only = ['--yes', '--no-install-recommends', '--reinstall', '--download-only'];
  await apt(['install', ...only, 'redis-server']);
  await unpackDebs(path.join(scratch, 'archives'), scratch);
  fs.renameSync(path.join(scratch, 'root'), path.join(scratch, 'out'));
}

// --- what both share ---------------------------------------------------------------------------

/**
 * Fetches into a scratch folder inside .engines (so that the last step is a rename, and a shared /tmp
 * does not matter), tries the binary, and only then puts it in its place.
 */
async function attempt(setup, folder, fetchInto, names, versionMin) {
  const scratch = fs.mkdtempSync(path.join(setup.enginesDir, 'scratch-'));
  const out = path.join(scratch, 'out');
  fs.mkdirSync(out);
  try {
    await fetchInto(setup, scratch);
    const good = await firstGood(
      names.map((name) => path.join(out, name)),
      versionMin,
      libraryPath(out),
    );
    if (!good) throw new Error(`what was fetched does not run here or is older than ${versionMin.join('.')}`);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(out, folder);
    return { engine: { ...good, path: path.join(folder, path.relative(out, good.path)) } };
  } catch (error) {
    // Retries and apt say the same thing several times over.
    const lines = new Set(error.message.trim().split('\n'));
    return { problem: [...lines].slice(-3).join(' / ') };
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** The record names what lies in .engines relative to it, so that a checkout may be moved. */
function fetched(setup, engine, source) {
  const root = path.join(setup.enginesDir, path.relative(setup.enginesDir, engine.path).split(path.sep)[0]);
  const libraries = libraryPath(root)
    ?.split(':')
    .map((folder) => path.relative(setup.enginesDir, folder));
  const record = { ...engine, path: path.relative(setup.enginesDir, engine.path), source };
  return { engine: libraries ? { ...record, libraries } : record };
}

async function theOverride(variable, file, versionMin) {
  const resolved = path.resolve(file);
  const version = await versionOf(resolved);
  if (!version) return { problem: `${variable} is set to ${file}, but nothing there answers to --version.` };
  if (isOlder(version, versionMin)) {
    return {
      problem: `${variable} is set to ${file}, which is ${version.join('.')}; ${versionMin.join('.')} or newer is needed.`,
    };
  }
  return { engine: { path: resolved, version: version.join('.'), source: 'override' } };
}

async function firstGood(files, versionMin, libraries) {
  for (const file of files) {
    const version = fs.existsSync(file) ? await versionOf(file, libraries) : undefined;
    if (version && !isOlder(version, versionMin)) return { path: file, version: version.join('.') };
  }
  return undefined;
}

async function versionOf(file, libraries) {
  const env = libraries ? { ...process.env, LD_LIBRARY_PATH: libraries } : process.env;
  const answer = await run(file, ['--version'], { env, timeout: 10_000 });
  const match = answer.code === 0 ? /v=?(\d+)\.(\d+)\.(\d+)/.exec(answer.output) : null;
  return match ? match.slice(1, 4).map(Number) : undefined;
}

function isOlder(version, than) {
  const at = version.findIndex((part, index) => part !== than[index]);
  return at >= 0 && version[at] < than[at];
}

/** Left over from a set-up that was killed; only the holder of the set-up's lock gets here. */
function sweepScratch(enginesDir) {
  for (const name of fs.readdirSync(enginesDir).filter((entry) => entry.startsWith('scratch-'))) {
    fs.rmSync(path.join(enginesDir, name), { recursive: true, force: true });
  }
}
