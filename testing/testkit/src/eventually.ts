import { patient } from './patience.ts';

/**
 * Waits for a condition instead of sleeping: asks again until `ask` answers without throwing, or time is up.
 *
 * @param withinMs for a machine with nothing else to do; `TEST_PATIENCE` times as long is waited
 */
export async function eventually<T>(ask: () => T | Promise<T>, withinMs = 20_000, everyMs = 50): Promise<T> {
  const deadline = Date.now() + patient(withinMs);
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      // What the last try found wrong is what the reader of a failed test needs to see.
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
}
