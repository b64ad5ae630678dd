import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { type Engine, type EngineSpec, startEngine } from '../src/process.ts';
import { failureOf, runs, scratchFolder, until } from './scratch.ts';

const scratch = scratchFolder();

afterAll(() => scratch.remove());

/** A process with all four engines below it, Redis paused. */
async function holder(): Promise<{ child: ChildProcess; pids: number[] }> {
  const file = fileURLToPath(new URL('./hold-engines.ts', import.meta.url));
  const child = spawn(process.execPath, [file, scratch.folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return { child, pids: JSON.parse(String(line)) };
}

/** A shell script as an engine: it serves once it has said `up`. */
function shell(script: string, more: Partial<EngineSpec> = {}): EngineSpec {
  let up = false;
  return {
    name: 'the engine',
    stopSignal: 'SIGTERM',
    command: () => ({ file: '/bin/sh', args: ['-c', script] }),
    log: (line) => {
      up ||= line === 'up';
    },
    ask: async () => {
      if (!up) throw new Error('not up');
    },
    ...more,
  };
}

/** A process with an engine below it that does not listen to its stop signal. */
async function deafHolder(): Promise<{ child: ChildProcess; pid: number }> {
  const script = `
    import { startEngine } from ${JSON.stringify(new URL('../src/process.ts', import.meta.url).href)};
    const engine = await startEngine({
      name: 'deaf', stopSignal: 'SIGTERM', ask: async () => {},
      command: () => ({ file: '/bin/sh', args: ['-c', 'trap "" TERM; while :; do sleep 1; done'] }),
    });
    process.stdout.write(String(engine.pid));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = await once(child.stdout, 'data');
  // eslint-disable-next-line no-restricted-syntax -- a process's id
  return { child, pid: Number(pid) };
}

test('engines of a parent killed with SIGKILL end by themselves, also a paused one, and a deaf one a while later', async () => {
  const [{ child, pids }, deaf] = await Promise.all([holder(), deafHolder()]);
  expect(pids).toHaveLength(4);
  expect([...pids, deaf.pid].every(runs)).toBe(true);
  child.kill('SIGKILL');
  deaf.child.kill('SIGKILL');
  await until(() => !pids.some(runs), 45_000);
  // An orderly end: anvil has written its chain, Postgres has taken its pid file away.
  expect(existsSync(path.join(scratch.folder, 'anvil.json'))).toBe(true);
  expect(existsSync(path.join(scratch.folder, 'postgres', 'postmaster.pid'))).toBe(false);
  await until(() => !runs(deaf.pid), 45_000);
});

test('an engine is in a session of its own, and its orderly end leaves no process behind, no watcher either', async () => {
  const ps = (...args: string[]) => spawnSync('ps', args, { encoding: 'utf8' }).stdout;
  const watchers = () => ps('-o', 'pid=,args=', '--ppid', `${process.pid}`).match(/read -r _/g)?.length ?? 0;
  const engine = await startEngine(shell('echo up; exec sleep 60'));
  const { pid } = engine;
  // No terminal reaches it there.
  expect(ps('-o', 'sess=', '-p', String(pid)).trim()).toBe(String(pid));
  // Until the engine's shell has become the engine, it reads from its parent too.
  await until(() => watchers() === 1, 5_000);
  await engine.stop();
  expect(pid !== undefined && runs(pid)).toBe(false);
  expect(watchers()).toBe(0);
  expect(engine.pid).toBeUndefined();
});

test('an end that nobody asked for is told, with the last lines; one that was asked for is not', async () => {
  const ends: string[] = [];
  const onUnexpectedExit = (error: Error) => ends.push(error.message);
  // It ends once the test has written this file: not before its start is over.
  const end = path.join(scratch.folder, 'end');
  const script = `echo up; until [ -e ${end} ]; do sleep 0.05; done; echo out of luck >&2; exit 3`;
  const crashing = await startEngine(shell(script, { onUnexpectedExit }));
  writeFileSync(end, '');
  await until(() => ends.length > 0, 10_000);
  expect(ends).toEqual(['the engine ended (exit code 3). It said:\nup\nout of luck']);
  await crashing.stop();

  const engines: Engine[] = [];
  for (const end of ['stop', 'kill'] as const) {
    const engine = await startEngine(shell('echo up; exec sleep 60', { onUnexpectedExit }));
    await engine[end]();
    engines.push(engine);
  }
  await until(() => engines.every((engine) => engine.pid === undefined), 10_000);
  expect(ends).toHaveLength(1);
});

test('a process that an engine leaves behind does not hold up its end', async () => {
  const engine = await startEngine(shell('sleep 30 & echo up; exec sleep 60'));
  const started = Date.now();
  await engine.stop();
  expect(Date.now() - started).toBeLessThan(20_000);
});

test('a start that fails for a passing reason is tried again, one that fails for good is not', async () => {
  let starts = 0;
  const flaky = shell('', {
    command: () => ({
      file: '/bin/sh',
      args: ['-c', ++starts < 3 ? 'echo not yet; exit 1' : 'echo up; exec sleep 60'],
    }),
  });
  expect(await failureOf(startEngine(flaky))).toContain('not yet');
  starts = 0;
  const engine = await startEngine({ ...flaky, passes: (message) => message.includes('not yet') });
  expect(starts).toBe(3);
  await engine.stop();
});
