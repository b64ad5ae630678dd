import { performance } from 'node:perf_hooks';

/** Time and chance are arguments, so that tests and the simulation can hold them still. */
export type Clock = {
  now(): Date;
  /** A clock that says nothing of sleeping sleeps in real time. */
  sleep?(ms: number, signal?: AbortSignal): Promise<void>;
};

export const systemClock: Clock = { now: () => new Date() };

/** A promise that ends after `ms` or as soon as `signal` aborts, whichever comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** Sleeps by a clock. */
export const sleepBy = (clock: Clock, ms: number, signal?: AbortSignal): Promise<void> =>
  (clock.sleep ?? sleep)(ms, signal);

/**
 * Executes the work and, until it ends, `again` every `everyMs`, one at a time. Waits for the work, and for a call of `again`
 * that is in flight when it ends. When `again` throws, it is not called any more, and its error is thrown after the work
 * has succeeded.
 */
export async function runWithHeartbeat<T>(
  clock: Clock,
  everyMs: number,
  again: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const repeating = (async () => {
    for (;;) {
      await sleepBy(clock, everyMs, ended.signal);
      if (ended.signal.aborted) return;
      await again();
    }
  })();
  // A rejection that nothing handles before the await below would end the process.
  const settled = Promise.allSettled([repeating]);
  let done: T;
  try {
    done = await work();
  } finally {
    // Without a reason Node creates an error with a stack trace.
    ended.abort('the work has ended');
    await settled;
  }
  await repeating;
  return done;
}

/**
 * One check for all who ask while it runs and for some time after it: `/readyz` and `/metrics` ask the database at most once
 * in that time, however many ask them. A failed check is not reused.
 * @param nowMs a clock that only goes forward, unless a test gives another one
 */
export function remembered<T>(
  check: () => Promise<T>,
  forMs: number,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let endedAtMs: number | undefined;
  return () => {
    const isOld = endedAtMs !== undefined && nowMs() - endedAtMs >= forMs;
    if (latest !== undefined && !isOld) return latest;
    endedAtMs = undefined;
    latest = check();
    latest.then(
      () => (endedAtMs = nowMs()),
      () => (latest = undefined),
    );
    return latest;
  };
}
