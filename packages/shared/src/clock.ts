/** Time and chance are arguments, so that tests and the simulation can hold them still. */
export type Clock = { now(): Date };

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
