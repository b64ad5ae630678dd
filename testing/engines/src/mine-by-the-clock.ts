import { setInterval as every } from 'node:timers/promises';
import { type Engine, messageOf } from './process.ts';

type MiningClock = { around(stop: () => Promise<void>): () => Promise<void> };

/** Mines a block every so many seconds until the node is stopped. While the node does not answer, nothing is mined. */
export function mineByTheClock(
  engine: Engine,
  mine: () => Promise<unknown>,
  seconds: number | undefined,
  log?: (line: string) => void,
): MiningClock {
  if (seconds === undefined) return { around: (stop) => stop };
  const stopping = new AbortController();
  const { signal } = stopping;
  const mining = async () => {
    try {
      for await (const _ of every(seconds * 1_000, undefined, { signal, ref: false })) {
        if (engine.pid === undefined) continue;
        await mine().catch((error: unknown) => log?.(`no block: ${messageOf(error)}`));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const ended = mining();
  return {
    around: (stop) => async () => {
      stopping.abort();
      await ended;
      await stop();
    },
  };
}
