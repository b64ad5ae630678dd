import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must, shell } from '@quittance/stack/shell';
import { fastFolder } from '../../tools/test-folder.ts';

/** What Debian calls its Docker engine, and what that needs to be useful here. */
const PACKAGES = ['docker.io', 'iptables', 'docker-compose'];
const PROGRAMS = ['dockerd', 'docker', 'iptables', 'docker-compose'];
const INSTALL_WITHIN_MS = 10 * 60_000;
const UP_WITHIN_MS = 60_000;
const DOWN_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 250;

export type DockerEngine = {
  /** The environment in which `docker`, compose and testcontainers find it. */
  env: NodeJS.ProcessEnv;
  /** False where it was there before: then images come from where its owner has them from. */
  ours: boolean;
  /** Ends what was started here and deletes all that it had: containers, images, volumes, networks. */
  remove(): Promise<void>;
};

/** There is none and none can be had; the message says why. */
export class NoEngine extends Error {
  override name = 'NoEngine';
}

/** The machine's own Docker engine, or Debian's, started for this run. */
export async function bringUpEngine(say: (line: string) => void): Promise<DockerEngine> {
  if (await answers(process.env)) return { env: process.env, ours: false, remove: () => Promise.resolve() };
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new NoEngine('no Docker engine answers, and without root on Linux none can be started');
  }
  await install(say);
  const dir = mkdtempSync(join(fastFolder(), 'quittance-docker-'));
  const env = {
    ...process.env,
    // Debian's own client, which builds with the BuildKit of its engine; a newer one needs a plug-in for that.
    PATH: `/usr/bin:${process.env['PATH'] ?? ''}`,
    DOCKER_HOST: `unix://${dir}/docker.sock`,
    DOCKER_BUILDKIT: '1',
  };
  if ((await shell('docker', ['build', '--help'], { env })).code !== 0) env.DOCKER_BUILDKIT = '0';
  const logFile = join(dir, 'dockerd.log');
  const log = openSync(logFile, 'a');
  const args = ['--data-root', join(dir, 'data'), '--exec-root', join(dir, 'exec')];
  const socket = ['--host', env.DOCKER_HOST, '--pidfile', join(dir, 'docker.pid')];
  // A group of its own: what interrupts this process must not end it before its containers are gone.
  const daemon = spawn('dockerd', [...args, ...socket], { stdio: ['ignore', log, log], detached: true });
  const ended = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
  const remove = async () => {
    if (daemon.exitCode === null && (await answers(env))) {
      const { stdout } = await shell('docker', ['ps', '--all', '--quiet'], { env });
      const containers = stdout.split('\n').filter((id) => id !== '');
      if (containers.length > 0)
        await shell('docker', ['rm', '--force', '--volumes', ...containers], { env });
      await shell('docker', ['network', 'prune', '--force'], { env });
    }
    daemon.kill('SIGTERM');
    await Promise.race([ended, sleep(DOWN_WITHIN_MS, undefined, { ref: false })]);
    daemon.kill('SIGKILL');
    // What it mounted is gone with it; one that was killed leaves mounts, and those cannot be deleted.
    await unmountBelow(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    await removeBridge();
  };
  try {
    await untilUp(env, () => daemon.exitCode, logFile);
  } catch (error) {
    await remove();
    throw error;
  }
  say(`Debian's Docker engine is up in ${dir}`);
  return { env, ours: true, remove };
}

async function answers(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    return (await shell('docker', ['info'], { env, limitMs: 10_000 })).code === 0;
  } catch {
    // There is no `docker`, or it hangs: no engine either way.
    return false;
  }
}

async function install(say: (line: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const program of PROGRAMS) {
    if ((await shell('sh', ['-c', `command -v ${program}`])).code !== 0) missing.push(program);
  }
  if (missing.length === 0) return;
  say(`installing Debian's ${PACKAGES.join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, limitMs: INSTALL_WITHIN_MS };
  try {
    await must('apt-get', ['-qq', 'update'], options);
    await must('apt-get', ['-qq', 'install', '--yes', '--no-install-recommends', ...PACKAGES], options);
  } catch (error) {
    throw new NoEngine(`${missing.join(', ')} cannot be installed: ${String(error)}`);
  }
}

async function untilUp(env: NodeJS.ProcessEnv, exitCode: () => number | null, logFile: string) {
  const deadline = Date.now() + UP_WITHIN_MS;
  while (!(await answers(env))) {
    if (exitCode() === null && Date.now() < deadline) {
      await sleep(ASK_EVERY_MS);
      continue;
    }
    const last = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
    throw new NoEngine(`dockerd does not start here:\n${last}`);
  }
}

async function unmountBelow(dir: string): Promise<void> {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const below = mounts
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${dir}/`))
    .sort()
    .reverse();
  for (const path of below) await shell('umount', ['--lazy', path]);
}

/** dockerd leaves its bridge behind when it ends; only one that nobody else's engine uses goes. */
async function removeBridge(): Promise<void> {
  const others = await shell('pgrep', ['-x', 'dockerd']);
  if (others.code !== 0) await shell('ip', ['link', 'delete', 'docker0']);
}
