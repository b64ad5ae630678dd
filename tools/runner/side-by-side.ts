import { availableParallelism, cpus } from 'node:os';

/** How often the cores are looked at. */
const LOOKED_AT_EVERY_MS = 1_000;

export type Most = {
  /** How many run at once whatever the machine does. */
  always: number;
  /** How many run at once when the cores have time left. */
  whenIdle: number;
  /** The part of the cores' time that is enough for one more, 0 to 1. Below half of it one fewer may run. */
  left: number;
};

/** So many, whatever the cores have left. */
export const exactly = (count: number): Most => ({ always: count, whenIdle: count, left: 1 });

/**
 * Runs `run` for each of `all`, in their order, several side by side: `always` of them, and up to `whenIdle` where a part
 * of the cores' time is left over. So suites that wait hold up others less, and a machine that is busy or slow gets no more
 * to do.
 * @param timeLeft which part of the cores' time was left over since it was asked last; for tests
 * @throws what `run` throws first; then nothing more begins
 */
export async function sideBySide<Item>(
  all: readonly Item[],
  { always, whenIdle, left }: Most,
  run: (one: Item) => Promise<void>,
  timeLeft: () => number = timeLeftOfCores(),
): Promise<void> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const waiting = [...all];
  let running = 0;
  let most = always;
  const begin = () => {
    while (running < most && waiting.length > 0) {
      running += 1;
      run(waiting.shift() as Item).then(() => {
        running -= 1;
        begin();
      }, fail);
    }
    if (running === 0) resolve();
  };
  const fail = (error: unknown) => {
    waiting.length = 0;
    reject(error);
  };
  const look = setInterval(() => {
    const now = timeLeft();
    // What begins now is not seen in it yet: one at a time.
    if (now > left && running >= most && most < whenIdle) most += 1;
    else if (now < left / 2) most = Math.max(most - 1, always);
    begin();
  }, LOOKED_AT_EVERY_MS);
  try {
    begin();
    await done;
  } finally {
    clearInterval(look);
  }
}

/** Time that a core waits for a disk, or that another machine has taken from it, is not left. */
function timeLeftOfCores(): () => number {
  const cores = cpus().length;
  // Of a container that has only some of the cores it is not known what it has left.
  if (cores !== availableParallelism()) return () => 0;
  let [idleBefore, lookedAt] = [idleMs(), performance.now()];
  return () => {
    const [idle, now] = [idleMs(), performance.now()];
    const left = (idle - idleBefore) / ((now - lookedAt) * cores);
    [idleBefore, lookedAt] = [idle, now];
    return left;
  };
}

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);
