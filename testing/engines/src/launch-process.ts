import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLines } from './lines.ts';

const OUTPUT_WITHIN_MS = 1_000;
/** How long an engine has for an orderly end after its parent died, before it is killed. */
const ORPHAN_GRACE_S = 5;

/*
 * No way of dying may leave an engine behind, also not a SIGKILL. So beside every engine stands a watcher: a small
 * shell that waits on its stdin, a socket whose other end only this Node process holds. The kernel closes it when
 * the process ends, however it ends; then the watcher asks the engine to stop, waits, and kills it.
 *
 * The engine begins as a shell that waits for its word to go (`exec` then turns it into the engine, under the same
 * pid), which is given once the watcher stands: there is no moment at which an engine runs unwatched. Both are
 * children of Node, so that after an orderly end not even a zombie is left, whoever is process 1.
 *
 * Linux' parent death signal is not used: it is bound to the thread that forked, is dropped when the user changes,
 * needs a tool that is not everywhere, and macOS has none.
 */
const ENGINE_SHELL = 'read -r _ <&3 || exit 1; exec 3<&-; exec "$@"';
const WATCHER_SHELL = `
read -r _
kill -s "$1" "$2" && kill -s CONT "$2"
tries=0
while kill -s 0 "$2" && [ $tries -lt ${ORPHAN_GRACE_S * 10} ]; do sleep 0.1; tries=$((tries+1)); done
kill -s 0 "$2" && kill -s KILL -- "-$2"
`;

/** Engines see none of the caller's environment: a PGDATA or an ANVIL_IP_ADDR of the person's must not count. */
export const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export type User = { uid: number; gid: number };

export type Command = {
  file: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  user?: User | undefined;
};

export type StopSignal = 'SIGTERM' | 'SIGINT';

/** What was launched: a process of this machine, or a container. */
export type Launched = {
  /** The number this machine knows it by; undefined once it has ended. */
  readonly pid: number | undefined;
  /** How it ended; undefined while it runs. */
  readonly end: string | undefined;
  /** Resolves after its end, when all that it wrote has been taken. */
  readonly ended: Promise<void>;
  /** Has been sent when this returns; nothing happens after its end. */
  signal(name: StopSignal | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGKILL to it and to all that it has started. */
  killAll(): void;
};

/** Runs a command, and throws when it cannot be run. `take` is given every line it writes. */
export type Launch = (
  command: Command,
  stopSignal: StopSignal,
  take: (line: string) => void,
) => Promise<Launched>;

/** Runs a command as a process of this machine that ends with this one. */
export async function launchProcess(
  command: Command,
  stopSignal: StopSignal,
  take: (line: string) => void,
): Promise<Launched> {
  const { child, pid, watcher } = await spawnWatched(command, stopSignal);
  let end: string | undefined;
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) takeLines(stream, take);
  child.once('exit', (code, signal) => {
    end = signal ? `killed by ${signal}` : `exit code ${code}`;
    watcher.kill('SIGKILL');
  });
  const closed = once(child, 'close');
  const ended = async () => {
    await Promise.all([once(child, 'exit'), once(watcher, 'exit')]);
    // 'close' is later than 'exit': all output has been read, so the last lines are really the last. But a process
    // that the engine left behind may hold its output open.
    await Promise.race([closed, sleep(OUTPUT_WITHIN_MS, undefined, { ref: false })]);
  };
  return {
    get pid() {
      return end === undefined ? pid : undefined;
    },
    get end() {
      return end;
    },
    ended: ended(),
    signal(name) {
      if (end === undefined) child.kill(name);
    },
    killAll() {
      if (end === undefined) killGroup(pid);
    },
  };
}

type Watched = { child: ChildProcess; pid: number; watcher: ChildProcess };

async function spawnWatched(command: Command, stopSignal: StopSignal): Promise<Watched> {
  // Sessions of their own: a terminal's Ctrl-C goes to the parent, which stops its engines in order.
  const own = { detached: true, env: { ...ENVIRONMENT, ...command.env }, cwd: '/', ...command.user };
  const child = spawn('/bin/sh', ['-c', ENGINE_SHELL, 'sh', command.file, ...command.args], {
    ...own,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const pid = await spawned(child);
  const watcher = spawn('/bin/sh', ['-c', WATCHER_SHELL, 'sh', stopSignal.slice(3), String(pid)], {
    ...own,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // They break when the other side ends, and that is told by 'exit'.
  const gate = child.stdio[3] as Writable;
  gate.on('error', () => {});
  watcher.stdin?.on('error', () => {});
  try {
    await spawned(watcher);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  gate.end('go\n');
  return { child, pid, watcher };
}

async function spawned(child: ChildProcess): Promise<number> {
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('it was started without a pid');
  return child.pid;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
