import { performance } from 'node:perf_hooks';
import { expect, test } from '@jest/globals';
import { sleep } from './clock.ts';
import { thenGather } from './gather-pause.ts';

async function timed(stepMs: number, isFull: boolean): Promise<number> {
  const begun = performance.now();
  const done = await thenGather(
    async () => {
      await sleep(stepMs);
      return 'done';
    },
    () => isFull,
  );
  expect(done).toBe('done');
  return performance.now() - begun;
}

test('a step is followed by a rest of twice its length', async () => {
  expect(await timed(6, false)).toBeGreaterThanOrEqual(6 + 11);
});

test('a long step is followed by a short rest', async () => {
  expect(await timed(100, false)).toBeLessThan(100 + 60);
});

test('a step that left work behind is followed by the next at once', async () => {
  const full = await timed(20, true);
  const rested = await timed(20, false);
  expect(full).toBeLessThan(rested);
});

test('a step that fails fails at once', async () => {
  const failing = thenGather(
    () => Promise.reject(new Error('no')),
    () => false,
  );
  await expect(failing).rejects.toThrow('no');
});
