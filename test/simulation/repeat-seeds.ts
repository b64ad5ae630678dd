import type { ChainKind } from '@quittance/shared/assets';
import { type Report, runTasks, type Task } from './runner.ts';

/** All that happened in each seed of a kind of chain, in a number. */
export type Hashes = ReadonlyMap<number, number>;

const ALONE = 2;

/**
 * Runs seeds again and expects that they take the same steps: backward, with a database that is asked what it is known to
 * answer, because what comes before a seed in its process (rows that are left behind, plans, statistics) is no part of its
 * scenario; and a few of them each in a process of its own. Two seeds that take the same steps are wrong too.
 * @returns what differs, a line each
 */
export async function repeatSeeds(workers: number, kind: ChainKind, before: Hashes): Promise<string[]> {
  const seeds = [...before.keys()].toSorted((a, b) => a - b);
  const [from = 1] = seeds;
  const differing: string[] = [];
  if (new Set(before.values()).size !== seeds.length)
    differing.push(`${kind}: two seeds take the same steps`);
  const compare =
    ({ how }: { how: string }) =>
    (report: Report) => {
      for (const [seed, hash] of report.hashes) {
        if (hash !== before.get(seed)) differing.push(`${kind} seed ${seed} takes other steps ${how}`);
      }
      if (report.hashes.length !== report.task.count) differing.push(`${kind}: seeds ${how} were not run`);
    };
  const tasks: (Task & { how: string })[] = [
    { kind, from, count: seeds.length, isBackward: true, doubts: true, how: 'after other seeds' },
    ...seeds.slice(-ALONE).map((seed) => ({ kind, from: seed, count: 1, how: 'alone' })),
  ];
  const next = () => tasks.shift();
  // Each task in a process of its own.
  await Promise.all(Array.from({ length: workers }, () => runEach(next, compare)));
  return differing;
}

async function runEach<T extends Task>(
  next: () => T | undefined,
  compare: (task: T) => (report: Report) => void,
): Promise<void> {
  for (let task = next(); task !== undefined; task = next()) {
    const only = [task];
    await runTasks(1, () => only.shift(), compare(task));
  }
}
