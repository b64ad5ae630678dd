import { patient } from './patience.ts';

/** Each question costs work in whatever is asked: what takes long is asked about less often, and told of a tenth later. */
const FIRST_AGAIN_AFTER_MS = 20;
const AGAIN_AFTER_MAX_MS = 200;

/**
 * Waits for a condition instead of sleeping: asks again until `ask` answers without throwing, or time is up.
 *
 * @param withinMs for a machine with nothing else to do; `TEST_PATIENCE` times as long is waited
 * @param everyMs how long after an answer it asks again; a tenth of the time waited so far when not given, 20 to 200 ms
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  withinMs = 20_000,
  everyMs?: number,
): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const waited = Date.now() - began;
      // What the last try found wrong is what the reader of a failed test needs to see.
      if (waited > patient(withinMs)) throw error;
      const again = everyMs ?? Math.min(Math.max(waited / 10, FIRST_AGAIN_AFTER_MS), AGAIN_AFTER_MAX_MS);
      await new Promise((resolve) => setTimeout(resolve, again));
    }
  }
}
