import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Command,
  type Launch,
  type Launched,
  launchProcess,
  type StopSignal,
} from './launch-process.ts';

const ASK_EVERY_MS = 40;
/**
 * Long: one that starts beside many others on two cores has taken half a minute. One that cannot start ends at once. It is
 * less than what a test gives a stack, so that the reason is told.
 */
const READY_WITHIN_MS = 90_000;
const STOP_WITHIN_MS = 20_000;
const TRY_AGAIN_EVERY_MS = 200;
const TRY_AGAIN_FOR_MS = 5_000;
const OUTPUT_LINES_KEPT = 40;

export type EngineOptions = {
  /** As a process of this machine when not given. */
  launch?: Launch | undefined;
  /** How long it may take until it answers; two minutes when not given. */
  readyWithinMs?: number | undefined;
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
  stopSignal: StopSignal;
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
  launched: Launched;
  lines: string[];
  /** It was told to end, by whatever means. */
  told: boolean;
  /** After its end, and what is to be done then. */
  ended: Promise<void>;
};

/** Starts an engine, by itself as a process of its own, and returns when it has answered. */
export async function startEngine(spec: EngineSpec): Promise<Engine> {
  let run = await start(spec);

  const stop = () => end(spec, run);

  return {
    get pid() {
      return run.launched.pid;
    },
    stop,
    kill: () => {
      run.told = true;
      run.launched.signal('SIGKILL');
    },
    restart: async () => {
      await stop();
      run = await start(spec);
    },
    pause: () => run.launched.signal('SIGSTOP'),
    resume: () => run.launched.signal('SIGCONT'),
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
    run.launched.killAll();
    await run.ended;
    throw error;
  }
  return run;
}

async function launch(spec: EngineSpec, command: Command): Promise<Run> {
  const lines: string[] = [];
  const take = (line: string) => {
    lines.push(line);
    if (lines.length > OUTPUT_LINES_KEPT) lines.shift();
    spec.log?.(line);
  };
  const launched = await launchedBy(spec, command, take);
  const run: Run = { launched, lines, told: false, ended: Promise.resolve() };
  const ended = async () => {
    await launched.ended;
    spec.afterEnd?.();
    if (!run.told) spec.onUnexpectedExit?.(new EngineFailed(`${spec.name} ended (${said(run)}`));
  };
  run.ended = ended();
  return run;
}

async function launchedBy(
  { name, launch: how = launchProcess, stopSignal }: EngineSpec,
  command: Command,
  take: (line: string) => void,
): Promise<Launched> {
  try {
    return await how(command, stopSignal, take);
  } catch (cause) {
    throw new EngineFailed(`${name} could not be started: ${messageOf(cause)}`, { cause });
  }
}

async function waitUntilItAnswers(spec: EngineSpec, run: Run): Promise<void> {
  const { launched } = run;
  const withinMs = spec.readyWithinMs ?? READY_WITHIN_MS;
  const deadline = Date.now() + withinMs;
  let problem = 'it was not asked';
  while (launched.end === undefined) {
    try {
      await spec.ask();
      // Another process may have answered from the same port: ours must still be there.
      if (launched.end === undefined) return;
    } catch (error) {
      problem = messageOf(error);
    }
    if (Date.now() > deadline) {
      throw new EngineFailed(`${spec.name} did not answer in ${withinMs / 1000} s (${problem}; ${said(run)}`);
    }
    await sleep(ASK_EVERY_MS);
  }
  await run.ended;
  throw new EngineFailed(`${spec.name} ended while it was starting (${said(run)}`);
}

function said(run: Run): string {
  const lines = run.lines.length > 0 ? `\n${run.lines.join('\n')}` : ' nothing';
  return `${run.launched.end ?? 'still running'}). It said:${lines}`;
}

/** An orderly end, also of a paused engine. One that was told before is only waited for. */
async function end(spec: EngineSpec, run: Run): Promise<void> {
  if (run.launched.end === undefined && !run.told) {
    run.told = true;
    run.launched.signal(spec.stopSignal);
    run.launched.signal('SIGCONT');
  }
  const tooLong = setTimeout(() => run.launched.killAll(), STOP_WITHIN_MS);
  await run.ended;
  clearTimeout(tooLong);
}

/** Error.isError, because under jest errors of Node's own are of another realm, and not `instanceof Error`. */
export function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
}
