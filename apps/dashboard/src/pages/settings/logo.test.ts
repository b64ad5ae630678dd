import { expect, test } from '@jest/globals';
import { attempts, fileProblem, fits, within } from './logo.ts';

test('only pictures without scripts are taken, and none that is huge', () => {
  expect(fileProblem({ type: 'image/png', size: 5_000_000 })).toBeUndefined();
  expect(fileProblem({ type: 'image/svg+xml', size: 100 })).toContain('SVG is refused');
  expect(fileProblem({ type: '', size: 100 })).toContain('PNG');
  expect(fileProblem({ type: 'image/jpeg', size: 10_000_001 })).toContain('10 MB');
});

test('a picture keeps its shape, and is never made larger', () => {
  expect(within(1_000, 500, 320)).toEqual({ width: 320, height: 160 });
  expect(within(64, 32, 320)).toEqual({ width: 64, height: 32 });
  expect(within(4_000, 1, 80)).toEqual({ width: 80, height: 1 });
});

test('the best that fits is found first', () => {
  expect(fits('x'.repeat(8_192))).toBe(true);
  expect(fits('x'.repeat(8_193))).toBe(false);
  const boxes = attempts.map(({ box }) => box);
  expect(boxes).toEqual(boxes.toSorted((a, b) => b - a));
});
