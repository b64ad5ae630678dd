import { cpus } from 'node:os';

/** How often the cores are looked at. */
const LOOKED_AT_EVERY_MS = 1_000;

export type Most = {
  /** How many run at once whatever the machine does. */
  always: number;
  /** How many run at once when the cores have time left. */
  whenIdle: number;
  /** The part of the cores' time that is enough for one more, 0 to 1; with less than half of it there is one less again. */
  left: number;
};

/**
 * Runs `run` for each of `all`, in their order, several side by side: `always` of them, and up to `whenIdle` where a part of the
 * cores' time is left over. So suites that wait do not hold up others, and a machine that is busy or slow gets no more to do.
 * @param timeLeft which part of the cores' time was left over since it was asked last; for tests
 * @throws what `run` throws first
 */
export async function sideBySide<Item>(
  all: readonly Item[],
  { always, whenIdle, left }: Most,
  run: (one: Item) => Promise<void>,
  timeLeft: () => number = timeLeftOfCores(),
): Promise<void> {
  const running = new Set<Promise<void>>();
  const waiting = [...all];
  let most = always;
  const begin = () => {
    while (running.size < most && waiting.length > 0) {
      const begun = run(waiting.shift() as Item).finally(() => running.delete(begun));
      running.add(begun);
    }
  };
  const look = setInterval(() => {
    const now = timeLeft();
    // What begins now is not seen in it yet: one at a time.
    if (now > left && running.size >= most) most = Math.min(most + 1, whenIdle);
    else if (now < left / 2) most = Math.max(most - 1, always);
    begin();
  }, LOOKED_AT_EVERY_MS);
  try {
    for (begin(); running.size > 0; begin()) await Promise.race(running);
  } finally {
    clearInterval(look);
  }
}

function timeLeftOfCores(): () => number {
  let before = timesOfCores();
  return () => {
    const now = timesOfCores();
    const left = (now.idle - before.idle) / (now.all - before.all);
    before = now;
    return left;
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
