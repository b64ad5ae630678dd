import { setTimeout as sleep } from 'node:timers/promises';

export type Recurring = { begin(): void; end(): Promise<void> };

/** What is done again and again until it is to end, so long after the last time. `end` throws what a time has thrown. */
export function recurring(step: () => Promise<unknown>, everyMs: number): Recurring {
  let stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  return {
    begin() {
      stopping = new AbortController();
      const { signal } = stopping;
      loop = (async () => {
        while (!signal.aborted) {
          await step();
          // Cut short it throws, and the loop sees that it is over.
          await sleep(everyMs, undefined, { signal }).catch(() => undefined);
        }
      })();
      // Whoever ends it is told.
      loop.catch(() => undefined);
    },
    async end() {
      stopping.abort();
      await loop;
    },
  };
}
