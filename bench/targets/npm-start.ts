import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Benchmark, Sample } from '../benchmark.ts';
import { cpuSeconds } from '../processes.ts';
import { bareStart } from './start.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MEGABYTE = 1 << 20;
/** What a clone installed before its packages were looked at, in megabytes. */
const INSTALLED_BEFORE = 800;
const PORT = 41_000;
const UP_WITHIN_MS = 120_000;

export const startSandbox: Benchmark = {
  name: 'npm-start',
  what: '`npm start` again, on the data of the start before, until it prints that everything is up.',
  yardstick: 'one `node -e 0`',
  target: { atMost: 165 },
  unit: 's',
  rounds: 2,
  warmUp: false,
  async setUp() {
    const home = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
    await startOnce(home);
    return {
      ours: () => startOnce(home),
      theirs: bareStart,
      close: async () => rmSync(home, { recursive: true, force: true }),
    };
  },
};

export const installed: Benchmark = {
  name: 'packages',
  what: 'Size of what the first `npm start` installs in a fresh clone with an empty home folder: the packages and the engines that are fetched. Also how long it takes, which is the network too.',
  yardstick: `${INSTALLED_BEFORE} MB, as it was before it was looked at`,
  target: { atMost: 0.5 },
  unit: 'MB',
  rounds: 1,
  warmUp: false,
  async setUp() {
    const folder = mkdtempSync(join(tmpdir(), 'quittance-clone-'));
    return {
      ours: () => installIn(folder),
      theirs: async () => ({ figure: INSTALLED_BEFORE }),
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

async function installIn(folder: string): Promise<Sample> {
  const run = promisify(execFile);
  const [clone, home] = [join(folder, 'quittance'), join(folder, 'home')];
  mkdirSync(home);
  await run('git', ['clone', '--quiet', root, clone]);
  const begun = performance.now();
  await run(process.execPath, [join(clone, 'tools/setup.mjs'), '--without-tools'], {
    env: { HOME: home, PATH: process.env['PATH'] },
  });
  const seconds = (performance.now() - begun) / 1_000;
  const [packages = 0, engines = 0] = ['node_modules', '.engines'].map((name) =>
    megabytesOf(join(clone, name)),
  );
  const count = readdirSync(join(clone, 'node_modules/.pnpm')).length;
  return { figure: packages + engines, more: { packages, engines, 'number of packages': count, seconds } };
}

/** Starts a sandbox, waits until it is up, and stops it. */
async function startOnce(home: string): Promise<Sample> {
  const begun = performance.now();
  const child = spawn(process.execPath, [join(root, 'apps/sandbox/src/main.ts'), '--port', String(PORT)], {
    env: { ...process.env, SANDBOX_DIR: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const isUp = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the sandbox did not start: ${said}`)), UP_WITHIN_MS);
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!/services are up/.test(said)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`the sandbox ended with ${code}: ${said}`)));
  });
  try {
    await isUp;
    const figure = (performance.now() - begun) / 1_000;
    return { figure, more: { 'CPU s': cpuSeconds(child.pid ?? 0) } };
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}

/** Files are counted once, however many links there are to them. */
function megabytesOf(folder: string, seen = new Set<number>()): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  const visit = (path: string) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const file = join(path, entry.name);
      if (entry.isDirectory()) visit(file);
      if (!entry.isFile()) continue;
      const { ino, size } = statSync(file);
      if (!seen.has(ino)) bytes += size;
      seen.add(ino);
    }
  };
  visit(folder);
  return bytes / MEGABYTE;
}
