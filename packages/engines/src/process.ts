import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const ASK_EVERY_MS = 20;
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 20_000;
const TRY_AGAIN_EVERY_MS = 200;
const TRY_AGAIN_FOR_MS = 5_000;
const OUTPUT_WITHIN_MS = 1_000;
const OUTPUT_LINES_KEPT = 40;
const LINE_LENGTH_MAX = 1_000;
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

export type EngineOptions = {
  /** Takes every line the engine writes. */
  log?: ((line: string) => void) | undefined;
  /** Told when the engine ends though nobody stopped or killed it. */
  onUnexpectedExit?: ((error: Error) => void) | undefined;
};

export type EngineSpec = EngineOptions & {
  name: string;
  /** What to run. Called before every start, so it may also clear away what the last run left. */
  command(): Promise<Command> | Command;
  /** Asks the engine whether it serves, and throws while it does not. Limits its own time. */
  ask(): Promise<void>;
  /** The signal for an orderly end. */
  stopSignal: 'SIGTERM' | 'SIGINT';
  /** Whether a start that failed with this message may succeed a moment later; tried for five seconds. */
  passes?: ((message: string) => boolean) | undefined;
  /** Runs after every end of the process, whatever ended it. */
  afterEnd?: (() => void) | undefined;
};

export type Engine = {
  /** Undefined while it does not run. */
  readonly pid: number | undefined;
  /** An orderly end; does nothing when it does not run. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash looks like. Returns at once; restart() and stop() wait for the end. */
  kill(): void;
  /** Starts again on the same port and data, after an orderly end where it still runs. */
  restart(): Promise<void>;
  /** SIGSTOP: the engine hangs, its connections stay open. */
  pause(): void;
  resume(): void;
};

/** The engine could not be started; the message ends with the engine's own last lines. */
export class EngineFailed extends Error {
  override name = 'EngineFailed';
}

type Run = {
  child: ChildProcess;
  pid: number;
  lines: string[];
  /** How it ended, once it has. */
  end: string | undefined;
  ended: Promise<void>;
  /** It was told to end, by whatever means. */
  told: boolean;
};

/** Starts an engine as a process of its own and returns when it has answered. */
export async function startEngine(spec: EngineSpec): Promise<Engine> {
  let run = await start(spec);

  const stop = () => end(spec, run);
  const signal = (name: NodeJS.Signals) => {
    if (run.end === undefined) run.child.kill(name);
  };

  return {
    get pid() {
      return run.end === undefined ? run.pid : undefined;
    },
    stop,
    kill: () => {
      run.told = true;
      signal('SIGKILL');
    },
    restart: async () => {
      await stop();
      run = await start(spec);
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  };
}

async function start(spec: EngineSpec): Promise<Run> {
  const deadline = Date.now() + TRY_AGAIN_FOR_MS;
  for (;;) {
    try {
      return await startOnce(spec);
    } catch (error) {
      if (!(error instanceof EngineFailed && spec.passes?.(error.message)) || Date.now() > deadline)
        throw error;
    }
    await sleep(TRY_AGAIN_EVERY_MS);
  }
}

async function startOnce(spec: EngineSpec): Promise<Run> {
  const run = await launch(spec, await spec.command());
  try {
    await waitUntilItAnswers(spec, run);
  } catch (error) {
    run.told = true;
    killGroup(run);
    await run.ended;
    throw error;
  }
  return run;
}

async function launch(spec: EngineSpec, command: Command): Promise<Run> {
  const { child, pid, watcher } = await spawnWatched(spec, command);
  const ending = Promise.withResolvers<void>();
  const run: Run = { child, pid, lines: [], end: undefined, ended: ending.promise, told: false };
  keepLines(child, (line) => {
    run.lines.push(line);
    if (run.lines.length > OUTPUT_LINES_KEPT) run.lines.shift();
    spec.log?.(line);
  });
  child.once('exit', (code, signal) => {
    run.end = signal ? `killed by ${signal}` : `exit code ${code}`;
    watcher.kill('SIGKILL');
  });
  const ended = async () => {
    await Promise.all([once(child, 'exit'), once(watcher, 'exit')]);
    // 'close' is later than 'exit': all output has been read, so the last lines are really the last. But a process
    // that the engine left behind may hold its output open.
    await Promise.race([closed, sleep(OUTPUT_WITHIN_MS, undefined, { ref: false })]);
    spec.afterEnd?.();
    if (!run.told) spec.onUnexpectedExit?.(new EngineFailed(`${spec.name} ended (${said(run)}`));
  };
  const closed = once(child, 'close');
  ended().then(ending.resolve, ending.reject);
  return run;
}

type Watched = { child: ChildProcess; pid: number; watcher: ChildProcess };

async function spawnWatched(spec: EngineSpec, command: Command): Promise<Watched> {
  // Sessions of their own: a terminal's Ctrl-C goes to the parent, which stops its engines in order.
  const own = { detached: true, env: { ...ENVIRONMENT, ...command.env }, cwd: '/', ...command.user };
  const child = spawn('/bin/sh', ['-c', ENGINE_SHELL, 'sh', command.file, ...command.args], {
    ...own,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const pid = await spawned(spec, child);
  const watcher = spawn('/bin/sh', ['-c', WATCHER_SHELL, 'sh', spec.stopSignal.slice(3), String(pid)], {
    ...own,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // They break when the other side ends, and that is told by 'exit'.
  const gate = child.stdio[3] as Writable;
  gate.on('error', () => {});
  watcher.stdin?.on('error', () => {});
  try {
    await spawned(spec, watcher);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  gate.end('go\n');
  return { child, pid, watcher };
}

async function spawned(spec: EngineSpec, child: ChildProcess): Promise<number> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new EngineFailed(
      `${spec.name} could not be started: ${cause instanceof Error ? cause.message : cause}`,
      {
        cause,
      },
    );
  }
  if (child.pid === undefined) throw new EngineFailed(`${spec.name} was started without a pid`);
  return child.pid;
}

async function waitUntilItAnswers(spec: EngineSpec, run: Run): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  let problem = 'it was not asked';
  while (run.end === undefined) {
    try {
      await spec.ask();
      // Another process may have answered from the same port: ours must still be there.
      if (run.end === undefined) return;
    } catch (error) {
      problem = messageOf(error);
    }
    if (Date.now() > deadline) {
      throw new EngineFailed(
        `${spec.name} did not answer in ${READY_WITHIN_MS / 1000} s (${problem}; ${said(run)}`,
      );
    }
    await sleep(ASK_EVERY_MS);
  }
  await run.ended;
  throw new EngineFailed(`${spec.name} ended while it was starting (${said(run)}`);
}

function said(run: Run): string {
  const lines = run.lines.length > 0 ? `\n${run.lines.join('\n')}` : ' nothing';
  return `${run.end ?? 'still running'}). It said:${lines}`;
}

/** An orderly end, also of a paused engine. One that was told before is only waited for. */
async function end(spec: EngineSpec, run: Run): Promise<void> {
  if (run.end === undefined && !run.told) {
    run.told = true;
    run.child.kill(spec.stopSignal);
    run.child.kill('SIGCONT');
  }
  const tooLong = setTimeout(() => killGroup(run), STOP_WITHIN_MS);
  await run.ended;
  clearTimeout(tooLong);
}

function killGroup(run: Run): void {
  if (run.end !== undefined) return;
  try {
    process.kill(-run.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function keepLines(child: ChildProcess, take: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
      for (const line of lines) if (line.trim() !== '') take(line.slice(0, LINE_LENGTH_MAX));
    });
    stream?.on('end', () => {
      if (rest.trim() !== '') take(rest);
    });
  }
}

/** Error.isError, because under jest errors of Node's own are of another realm, and not `instanceof Error`. */
export function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}
