import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { ChainKind } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import type { Fault } from './faults.ts';
import { NOT_RUN } from './mutant-result.ts';
import { compilePostgres, type PostgresCode } from './stored-database.ts';

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
};

/** Postgres is hot from the beginning: compile what runs at once to the best code. */
setFlagsFromString('--wasm-tiering-budget=20000');
const WORKER = new URL('worker.ts', import.meta.url);
let code: Promise<PostgresCode> | undefined;

/**
 * Threads that run tasks, each with a database of its own. All of them run the machine code of Postgres that the first one
 * has compiled, which would take a process of its own some seconds. Each is started when there is a task for it, and kept.
 */
export class Workers {
  readonly count: number;
  readonly #threads: (Worker | undefined)[];

  constructor(count: number) {
    this.count = count;
    this.#threads = Array.from({ length: count }, () => undefined);
  }

  /**
   * Runs tasks one after the other in each thread; a thread that dies takes its task with it, which counts as found.
   * `next` gives the tasks of one thread, until there are none.
   */
  async run(next: () => Task | undefined, done: (report: Report) => void): Promise<void> {
    await Promise.all(this.#threads.map((_, i) => this.#runIn(i, next, done)));
  }

  async #runIn(i: number, next: () => Task | undefined, done: (report: Report) => void): Promise<void> {
    for (let task = next(); task !== undefined; task = next()) {
      const thread = this.#threads[i] ?? (await startThread());
      const report = await give(thread, task);
      this.#threads[i] = 'died' in report ? undefined : thread;
      done('died' in report ? reportOfDead(task, report.died) : report);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.flatMap((thread) => thread?.terminate() ?? []));
  }
}

/** Nearly all objects of a scenario are garbage soon: with room for many, few are looked at. */
async function startThread(): Promise<Worker> {
  code ??= compilePostgres();
  return new Worker(WORKER, { workerData: await code, resourceLimits: { maxYoungGenerationSizeMb: 192 } });
}

function give(thread: Worker, task: Task): Promise<Report | { died: string }> {
  return new Promise((resolve) => {
    const failed = (error: unknown): void => end({ died: reason(error) });
    const exited = (status: number): void => end({ died: `code ${status}` });
    const end = (outcome: Report | { died: string }): void => {
      thread.off('message', end).off('error', failed).off('exit', exited);
      resolve(outcome);
    };
    thread.on('message', end).on('error', failed).on('exit', exited);
    thread.postMessage(task);
  });
}

function reportOfDead(task: Task, died: string): Report {
  const violations = [`${NOT_RUN}: its thread ended with ${died}`];
  return { task, seeds: 0, found: [{ seed: task.from, violations }], hashes: [], struck: [], fair: 0 };
}
