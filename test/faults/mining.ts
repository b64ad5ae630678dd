import { setTimeout as sleep } from 'node:timers/promises';

/** Blocks that come by themselves, until they are to pause or to stop. */
export type Mining = {
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
};

export function mineAllTheTime(mine: () => Promise<unknown>, everyMs: number): Mining {
  const stopping = new AbortController();
  let isPaused = false;
  let mining: Promise<unknown> = Promise.resolve();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      if (!isPaused) {
        mining = mine();
        await mining;
      }
      // Cut short it throws, and the loop sees that it is over.
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    async pause() {
      isPaused = true;
      await mining;
    },
    resume() {
      isPaused = false;
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
