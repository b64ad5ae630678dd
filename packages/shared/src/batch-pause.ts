import { performance } from 'node:perf_hooks';
import { sleep } from './clock.ts';

const TIMES_AS_LONG = 2;
const PAUSE_MAX_MS = 20;

/**
 * Executes a step and then pauses for twice as long as it took, so that events that arrive in the pause share the next step.
 * A step costs about as much for one event as for ten: under load, when steps take longer, more events share one, and a
 * single event never waits.
 * @param isFull whether the step's result says that more is waiting already: then there is no pause
 */
export async function withBatchPause<T>(
  step: () => Promise<T>,
  isFull: (done: T) => boolean,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  const begun = performance.now();
  const done = await step();
  if (!isFull(done)) await pause(batchPauseMs(performance.now() - begun));
  return done;
}

export const batchPauseMs = (tookMs: number): number => Math.min(tookMs * TIMES_AS_LONG, PAUSE_MAX_MS);
