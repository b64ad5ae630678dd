import type { ChainKind } from '@quittance/shared/assets';
import { type Report, type Task, Workers } from './runner.ts';

/** All that happened in each seed of a kind of chain, in a number. */
export type Hashes = ReadonlyMap<number, number>;

const ALONE = 1;

type Repetition = Task & { how: string };

/**
 * Runs seeds again and expects that they take the same steps: backward, with a database that is asked what it is known to
 * answer, because what comes before a seed in its process (rows that are left behind, plans, statistics) is no part of its
 * scenario; and one of them in a process of its own. Two seeds that take the same steps are wrong too.
 * @returns what differs of each kind of chain, a line each
 */
export async function repeatSeeds(
  workers: number,
  before: ReadonlyMap<ChainKind, Hashes>,
): Promise<Map<ChainKind, string[]>> {
  const differing = new Map<ChainKind, string[]>();
  const tasks: Repetition[] = [];
  for (const [kind, hashes] of before) {
    const isRepeated = new Set(hashes.values()).size !== hashes.size;
    differing.set(kind, isRepeated ? [`${kind}: two seeds take the same steps`] : []);
    tasks.push(...repetitionsOf(kind, hashes));
  }
  const compare = ({ kind, how }: Repetition, report: Report) => {
    const lines = differing.get(kind);
    for (const [seed, hash] of report.hashes) {
      if (hash !== before.get(kind)?.get(seed)) lines?.push(`${kind} seed ${seed} takes other steps ${how}`);
    }
    if (report.hashes.length !== report.task.count) lines?.push(`${kind}: seeds ${how} were not run`);
  };
  // The long ones first. Each task in a process of its own.
  tasks.sort((one, other) => other.count - one.count);
  const next = () => tasks.shift();
  await Promise.all(Array.from({ length: workers }, () => runEach(next, compare)));
  return differing;
}

function repetitionsOf(kind: ChainKind, hashes: Hashes): Repetition[] {
  const seeds = [...hashes.keys()].toSorted((a, b) => a - b);
  const [from = 1] = seeds;
  return [
    { kind, from, count: seeds.length, isBackward: true, doubts: true, how: 'after other seeds' },
    ...seeds.slice(-ALONE).map((seed) => ({ kind, from: seed, count: 1, how: 'alone' })),
  ];
}

async function runEach(
  next: () => Repetition | undefined,
  compare: (task: Repetition, report: Report) => void,
): Promise<void> {
  for (let task = next(); task !== undefined; task = next()) {
    const now = task;
    const only = [now];
    const alone = new Workers(1);
    try {
      await alone.run(
        () => only.shift(),
        (report) => compare(now, report),
      );
    } finally {
      alone.end();
    }
  }
}
