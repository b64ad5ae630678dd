import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Engine, startEngine } from '@quittance/engines/process';

const programs = fileURLToPath(new URL('programs', import.meta.url));
const place = fileURLToPath(new URL('../../node_modules/.cache/bench-peers', import.meta.url));

/** Installs the peers from npm, once: who measures nothing does not download them. */
async function installPeers(): Promise<void> {
  mkdirSync(place, { recursive: true });
  const manifest = join(place, 'package.json');
  const wanted = readFileSync(join(programs, 'package.json'), 'utf8');
  const isThere = existsSync(manifest) && readFileSync(manifest, 'utf8') === wanted;
  if (!isThere || !existsSync(join(place, 'node_modules/bullmq'))) {
    copyFileSync(join(programs, 'package.json'), manifest);
    const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
    await promisify(execFile)('npm', ['install', ...how], { cwd: place });
  }
  for (const name of readdirSync(programs)) copyFileSync(join(programs, name), join(place, name));
}

/** Starts a program of the peers as a process of its own, and returns when it has said that it is ready. */
export async function startPeer(program: string, settings: Record<string, string>): Promise<Engine> {
  await installPeers();
  let isReady = false;
  return await startEngine({
    name: program,
    command: () => ({ file: process.execPath, args: [join(place, `${program}.mjs`)], env: settings }),
    async ask() {
      if (!isReady) throw new Error('it is not ready');
    },
    stopSignal: 'SIGTERM',
    log: (line) => {
      if (line === 'ready') isReady = true;
    },
  });
}

/** Runs a program of the peers to its end. */
export async function runPeer(
  program: string,
  settings: Record<string, string>,
  input: string,
): Promise<void> {
  const child = spawn(process.execPath, [join(place, `${program}.mjs`)], {
    env: settings,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}
