import { expect, it } from '@jest/globals';
import { readDollars } from './dollars.ts';

const atLeast = { rule: 'atLeast', limit: '5' };
const atMost = { rule: 'atMost', limit: '1000000000000' };
const decimals = { rule: 'decimals', places: 2 };

it.each([
  ['5', 500n, []],
  ['5.00', 500n, []],
  ['5.000', 500n, []],
  ['19.99', 1_999n, []],
  ['1000000000000', 100_000_000_000_000n, []],
  ['4.99', 499n, [atLeast]],
  ['0', 0n, [atLeast]],
  ['-5', -500n, [atLeast]],
  ['1000000000000.01', 100_000_000_000_001n, [atMost]],
  ['5.001', 500n, [decimals]],
  ['4.999', 400n, [atLeast, decimals]],
  ['0.001', 0n, [atLeast, decimals]],
])('%s', (text, amount, problems) => {
  expect(readDollars(text)).toEqual({ amount, problems });
});

it.each([
  [`${'9'.repeat(78)}`, [atMost]],
  [`-${'9'.repeat(78)}`, [atLeast]],
  [`${'9'.repeat(78)}.999`, [atMost, decimals]],
])('reports only the size of %s', (text, problems) => {
  expect(readDollars(text).problems).toEqual(problems);
});
