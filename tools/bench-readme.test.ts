import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { benchmarks } from '../bench/benchmarks.ts';
import { readme, readmeWith } from '../bench/results.ts';

test('the README of the measurements shows the last result of each', () => {
  expect(readFileSync(readme, 'utf8')).toBe(readmeWith(benchmarks));
});

test('each measurement has a name of its own', () => {
  const names = benchmarks.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(20);
  expect(new Set(names).size).toBe(names.length);
});
