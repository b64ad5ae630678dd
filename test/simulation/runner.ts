import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChainKind } from '@quittance/shared/assets';
import type { Fault } from './faults.ts';
import { NOT_RUN } from './mutant-result.ts';

/** Some seeds of one kind of chain; with a mutant, until a seed shows its violation. Backward, the last one comes first. */
export type Task = {
  kind: ChainKind;
  from: number;
  count: number;
  mutant?: string;
  isBackward?: boolean;
  /** What the database is known to answer is asked all the same. */
  doubts?: boolean;
};

export type Found = { seed: number; violations: string[] };

export type Report = {
  task: Task;
  /** How many seeds were run. */
  seeds: number;
  found: Found[];
  /** All that happened in each, in a number. */
  hashes: [seed: number, hash: number][];
  /** How often what went wrong. */
  struck: [fault: Fault, times: number][];
  /** In how many of them nothing did. */
  fair: number;
  cpuMs: number;
};

/** Postgres is hot from the beginning: compile what runs at once to the best code. */
const HOT = ['--wasm-tiering-budget=20000', '--disable-warning=ExperimentalWarning'];
const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

/** Processes that run tasks. Each is started when there is a task for it, which takes as long as a hundred seeds, and kept. */
export class Workers {
  readonly count: number;
  readonly #children: (ChildProcess | undefined)[];

  constructor(count: number) {
    this.count = count;
    this.#children = Array.from({ length: count }, () => undefined);
  }

  /**
   * Runs tasks one after the other in each process; a process that dies takes its task with it, which counts as found.
   * `next` gives the tasks of one process, until there are none.
   */
  async run(next: () => Task | undefined, done: (report: Report) => void): Promise<void> {
    await Promise.all(this.#children.map((_, i) => this.#runIn(i, next, done)));
  }

  async #runIn(i: number, next: () => Task | undefined, done: (report: Report) => void): Promise<void> {
    for (let task = next(); task !== undefined; task = next()) {
      const child =
        this.#children[i] ??
        fork(WORKER, [], { execArgv: HOT, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      this.#children[i] = child;
      done(await give(child, task));
      if (child.exitCode !== null || child.signalCode !== null) this.#children[i] = undefined;
    }
  }

  end(): void {
    for (const child of this.#children) child?.kill();
  }
}

function give(child: ChildProcess, task: Task): Promise<Report> {
  return new Promise((resolve) => {
    const died = (code: number | null, signal: NodeJS.Signals | null) => {
      child.off('message', answered);
      const violations = [`${NOT_RUN}: its process ended with ${code ?? signal}`];
      resolve({
        task,
        seeds: 0,
        found: [{ seed: task.from, violations }],
        hashes: [],
        struck: [],
        fair: 0,
        cpuMs: 0,
      });
    };
    const answered = (report: unknown) => {
      child.off('exit', died);
      resolve(report as Report);
    };
    child.once('message', answered);
    child.once('exit', died);
    child.send(task);
  });
}
