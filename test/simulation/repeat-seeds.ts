import type { ChainKind } from '@quittance/shared/assets';
import { type Report, type Task, Workers } from './runner.ts';

/** All that happened in each seed of a kind of chain, in a number. */
export type Hashes = ReadonlyMap<number, number>;

/**
 * Runs seeds again and expects that they take the same steps: backward, in a new thread, with a database that is asked what it
 * is known to answer, because what comes before a seed in its thread (rows that are left behind, plans, statistics) is no part
 * of its scenario. The last seed, which comes first then, has nothing before it. Two seeds that take the same steps are wrong
 * too.
 * @returns what differs of each kind of chain, a line each
 */
export async function repeatSeeds(
  workers: number,
  before: ReadonlyMap<ChainKind, Hashes>,
): Promise<Map<ChainKind, string[]>> {
  const differing = new Map<ChainKind, string[]>();
  const tasks: Task[] = [];
  for (const [kind, hashes] of before) {
    if (hashes.size === 0) continue;
    const isRepeated = new Set(hashes.values()).size !== hashes.size;
    differing.set(kind, isRepeated ? [`${kind}: two seeds take the same steps`] : []);
    tasks.push({
      kind,
      from: Math.min(...hashes.keys()),
      count: hashes.size,
      isBackward: true,
      doubts: true,
    });
  }
  const compare = ({ task: { kind, count }, hashes }: Report) => {
    const lines = differing.get(kind);
    for (const [seed, hash] of hashes) {
      if (hash !== before.get(kind)?.get(seed))
        lines?.push(`${kind} seed ${seed} takes other steps after other seeds`);
    }
    if (hashes.length !== count) lines?.push(`${kind}: not all seeds were run again`);
  };
  await Promise.all(Array.from({ length: workers }, () => runEach(() => tasks.shift(), compare)));
  return differing;
}

/** Each task in a new thread. */
async function runEach(next: () => Task | undefined, done: (report: Report) => void): Promise<void> {
  for (let task = next(); task !== undefined; task = next()) {
    const only = [task];
    const alone = new Workers(1);
    try {
      await alone.run(() => only.shift(), done);
    } finally {
      await alone.end();
    }
  }
}
