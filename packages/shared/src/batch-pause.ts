import { performance } from 'node:perf_hooks';
import { sleep } from './clock.ts';

const TIMES_AS_LONG = 2;
const PAUSE_MAX_MS = 20;

/**
 * Does one step and then rests for twice as long as it took: what arrives meanwhile goes into the next one
 * together. A step costs about as much for one event as for ten, so that under load, when steps take longer, ever more
 * events share one, while an event alone never waits.
 * @param isFull whether a step's answer says that more is waiting already: then there is nothing to rest for
 */
export async function thenRest<T>(
  step: () => Promise<T>,
  isFull: (done: T) => boolean,
  rest: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  const begun = performance.now();
  const done = await step();
  if (!isFull(done)) await rest(restAfterMs(performance.now() - begun));
  return done;
}

export const restAfterMs = (tookMs: number): number => Math.min(tookMs * TIMES_AS_LONG, PAUSE_MAX_MS);
