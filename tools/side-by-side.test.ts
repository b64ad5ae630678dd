import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { sideBySide } from './runner/side-by-side.ts';

/** Suites side by side, without suites: what runs is counted, and ended one by one. */
async function most(all: number, isIdle: () => boolean) {
  const ends: (() => void)[] = [];
  const seen: number[] = [];
  let running = 0;
  const run = async (one: number) => {
    seen.push(one);
    running += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
  };
  const numbers = Array.from({ length: all }, (_, index) => index);
  const done = sideBySide(numbers, { always: 2, whenIdle: 4, left: 1 }, run, isIdle);
  await turn();
  const atFirst = running;
  for (let ended = 0; ended < all; ended += 1) {
    ends[ended]?.();
    await turn();
  }
  await done;
  return { atFirst, seen, numbers };
}

test('a machine that has no time left runs as many suites as always, in their order', async () => {
  const { atFirst, seen, numbers } = await most(9, () => false);
  expect(atFirst).toBe(2);
  expect(seen).toEqual(numbers);
});

test('a machine that has time left runs more of them, and no more than that', async () => {
  const { atFirst, seen, numbers } = await most(9, () => true);
  expect(atFirst).toBe(4);
  expect(seen).toEqual(numbers);
});

test('each look at the cores lets one more suite begin', async () => {
  const looks = [true, false];
  const { atFirst } = await most(9, () => looks.shift() ?? false);
  expect(atFirst).toBe(3);
});

test('what the first of them throws ends all of it', async () => {
  const failing = sideBySide([1, 2, 3], { always: 1, whenIdle: 1, left: 1 }, () =>
    Promise.reject(new Error('one')),
  );
  await expect(failing).rejects.toThrow('one');
});
