import { expect, test } from '@jest/globals';
import { sleep } from './clock.ts';
import { batchPauseMs, withBatchPause } from './worker.ts';

const STEP_MS = 4;
/** A timer may end a little before its time. */
const EARLY_MS = 1;

/** Does a step and answers how long it rested after it: not at all, or once. */
async function restsOf(isFull: boolean): Promise<number[]> {
  const rests: number[] = [];
  const done = await withBatchPause(
    async () => {
      await sleep(STEP_MS);
      return 'done';
    },
    () => isFull,
    async (ms) => {
      rests.push(ms);
    },
  );
  expect(done).toBe('done');
  return rests;
}

test('a rest is twice as long as the step before it, and never long', () => {
  expect(batchPauseMs(0)).toBe(0);
  expect(batchPauseMs(6)).toBe(12);
  expect(batchPauseMs(100)).toBe(20);
});

test('a step is followed by a rest', async () => {
  const [rest] = await restsOf(false);
  expect(rest).toBeGreaterThanOrEqual(2 * (STEP_MS - EARLY_MS));
});

test('a step that left work behind is followed by the next at once', async () => {
  expect(await restsOf(true)).toEqual([]);
});

test('a step that fails fails at once', async () => {
  const failing = withBatchPause(
    () => Promise.reject(new Error('no')),
    () => false,
  );
  await expect(failing).rejects.toThrow('no');
});
