import { recurring } from './recurring.ts';

/** Blocks that come by themselves, until they are to pause or to stop. */
export type Mining = {
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
};

export function mineAllTheTime(mine: () => Promise<unknown>, everyMs: number): Mining {
  let isPaused = false;
  let mining: Promise<unknown> = Promise.resolve();
  const loop = recurring(async () => {
    if (isPaused) return;
    mining = mine();
    await mining;
  }, everyMs);
  loop.begin();
  return {
    async pause() {
      isPaused = true;
      await mining;
    },
    resume() {
      isPaused = false;
    },
    stop: () => loop.end(),
  };
}
