// Finds nats-server and redis-server for the set-up, or fetches them into .engines/ without root and
// without touching the system. What was found is written to .engines/engines.json, which is where
// testing/engines reads it. Integrity: apt checks Debian's signatures and hashes itself, and the
// vendor's archive is held against a hash that stands here.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ENGINES_DIR, onPath, readJson, writeJson } from './commands.mjs';
import { aptFor, libraryPath, must, osRelease, unpackDebs } from './debian.mjs';
import {
  attempt,
  fetched,
  firstGood,
  isRecentlyMissing,
  isRecorded,
  missing,
  sweepScratch,
  theOverride,
} from './programs.mjs';

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

export function enginesAreReady() {
  const found = readJson(path.join(ENGINES_DIR, 'engines.json'));
  if (!natsIsReady(found)) return false;
  const override = process.env.REDIS_SERVER_PATH;
  return isRecorded(found.redisServer, override) || isRecentlyMissing(found.redisServer, override);
}

export function natsIsReady(found = readJson(path.join(ENGINES_DIR, 'engines.json'))) {
  return isRecorded(found?.natsServer, process.env.NATS_SERVER_PATH);
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
  const redisEntry = redis.problem ? missing(redis.problem) : redis.engine;
  writeJson(path.join(setup.enginesDir, 'engines.json'), {
    natsServer: nats.engine,
    redisServer: redisEntry,
  });
  return undefined;
}

// --- nats-server -------------------------------------------------------------------------------

async function natsServer(setup) {
  const override = setup.env.NATS_SERVER_PATH;
  if (override) return await theOverride('NATS_SERVER_PATH', override, NATS_VERSION_MIN);
  const own = await firstGood(onPath(['nats-server'], setup.path), NATS_VERSION_MIN);
  if (own) return { engine: { ...own, source: 'path' } };
  const folder = path.join(setup.enginesDir, 'nats-server');
  const filesIn = (parent) => [path.join(parent, 'nats-server')];
  const before = await firstGood(filesIn(folder), NATS_VERSION_MIN);
  if (before) return fetched(setup, before, 'kept');
  setup.say('fetching nats-server …');
  const attempts = [];
  for (const [name, fetchInto] of [
    ['Debian', natsFromDebian],
    ['the vendor', natsFromVendor],
  ]) {
    const outcome = await attempt(setup, folder, fetchInto, filesIn, NATS_VERSION_MIN);
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
  const filesIn = (parent) =>
    ['usr/bin/redis-server', 'usr/bin/valkey-server'].map((name) => path.join(parent, name));
  const before = await firstGood(filesIn(folder), REDIS_VERSION_MIN, libraryPath(folder));
  if (before) return fetched(setup, before, 'kept');
  setup.say('fetching redis-server (for the tests) …');
  const outcome = await attempt(setup, folder, redisFromDebian, filesIn, REDIS_VERSION_MIN);
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
