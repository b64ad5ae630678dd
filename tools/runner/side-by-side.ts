import { cpus } from 'node:os';
import { setTimeout as later } from 'node:timers/promises';

/** For how long the cores are looked at before one more suite may begin. */
const LOOKED_FOR_MS = 2_000;

export type Most = {
  /** How many run at once whatever the machine does. */
  always: number;
  /** How many run at once while the cores have time left. */
  whenIdle: number;
  /** The part of the cores' time that is enough for one more, 0 to 1. */
  left: number;
};

/**
 * Runs `run` for each of `all`, in their order, several side by side: `always` of them, and up to `whenIdle` while a part of the
 * cores' time is left over. So suites that wait do not hold up others, and a machine that is busy or slow gets no more to do.
 * @param isIdle whether time was left over lately; for tests
 * @throws what `run` throws first
 */
export async function sideBySide<Item>(
  all: readonly Item[],
  { always, whenIdle, left }: Most,
  run: (one: Item) => Promise<void>,
  isIdle: () => boolean = coresAreIdle(left),
): Promise<void> {
  const running = new Set<Promise<void>>();
  const mayBegin = () => running.size < always || (running.size < whenIdle && isIdle());
  for (const one of all) {
    while (!mayBegin()) await Promise.race([...running, later(LOOKED_FOR_MS, undefined, { ref: false })]);
    const begun = run(one).finally(() => running.delete(begun));
    running.add(begun);
  }
  await Promise.all(running);
}

/** Says once for each look at the cores whether they had time left over: what has begun since is not in it yet. */
function coresAreIdle(enough: number): () => boolean {
  let before = timesOfCores();
  let lookedAt = performance.now();
  return () => {
    if (performance.now() - lookedAt < LOOKED_FOR_MS) return false;
    const now = timesOfCores();
    const left = (now.idle - before.idle) / (now.all - before.all);
    before = now;
    lookedAt = performance.now();
    return left > enough;
  };
}

function timesOfCores(): { idle: number; all: number } {
  const sum = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    sum.idle += times.idle;
    for (const time of Object.values(times)) sum.all += time;
  }
  return sum;
}
