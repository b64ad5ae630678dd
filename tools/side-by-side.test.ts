import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { sideBySide } from './runner/side-by-side.ts';

/** Suites side by side, without suites: two always, up to four when a fifth of the cores' time is left. */
const MOST = { always: 2, whenIdle: 4, left: 0.2 };
const ALL = Array.from({ length: 12 }, (_, index) => index);
let left: number;
let begun: number[];
let end: (() => void)[];
let done: Promise<void>;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  [left, begun, end] = [0, [], []];
  const run = (one: number) => {
    begun.push(one);
    return new Promise<void>((resolve) => end.push(resolve));
  };
  done = sideBySide(ALL, MOST, run, () => left);
});

afterEach(() => void jest.useRealTimers());

const look = (times = 1) => jest.advanceTimersByTime(1_000 * times);
/** The longest that has run ends. */
const oneEnds = async () => {
  end.shift()?.();
  await turn();
};
const running = () => end.length;

test('a machine that has no time left runs as many suites as always', async () => {
  expect(running()).toBe(2);
  look(9);
  expect(running()).toBe(2);
  await oneEnds();
  expect(running()).toBe(2);
});

test('each look at a machine that has time left lets one more begin, and no more than that', async () => {
  left = 0.21;
  look();
  expect(running()).toBe(3);
  look(9);
  expect(running()).toBe(4);
  left = 0.15;
  look(9);
  await oneEnds();
  expect(running()).toBe(4);
});

test('a machine that has no time left any more gets none for those that end, until as many run as always', async () => {
  left = 1;
  look(2);
  left = 0.09;
  look(9);
  expect(running()).toBe(4);
  await oneEnds();
  await oneEnds();
  expect(running()).toBe(2);
  await oneEnds();
  expect(running()).toBe(2);
});

test('all run once, in their order, and the end is that of the last', async () => {
  left = 1;
  look(9);
  while (running() > 0) await oneEnds();
  await done;
  expect(begun).toEqual(ALL);
});

test('what one of them throws ends all of it, also of one that a look has begun', async () => {
  const thrown: number[] = [];
  const run = (one: number) => {
    thrown.push(one);
    return one === 2 ? Promise.reject(new Error('two')) : new Promise<void>((resolve) => end.push(resolve));
  };
  const failing = sideBySide(ALL, MOST, run, () => 1);
  look();
  await expect(failing).rejects.toThrow('two');
  end.at(-1)?.();
  await turn();
  expect(thrown).toEqual([0, 1, 2]);
});

test('no suite at all is the end at once', async () => {
  await expect(sideBySide([], MOST, () => Promise.resolve())).resolves.toBeUndefined();
});
