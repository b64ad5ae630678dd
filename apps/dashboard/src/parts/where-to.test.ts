import { expect, test } from '@jest/globals';
import { whereToProblems } from './where-to.ts';

test('a claim link ends after a number of days, which a field that was emptied has not', () => {
  const link = { to: 'link', address: '' } as const;
  for (const days of [1, 30, '90']) expect(whereToProblems({ ...link, expires_in_days: days })).toEqual({});
  for (const days of ['', 0, 91, '-'])
    expect(whereToProblems({ ...link, expires_in_days: days })).toHaveProperty('expires_in_days');
});

test('of an address the days are not looked at', () => {
  const way = { to: 'address', expires_in_days: '' } as const;
  expect(whereToProblems({ ...way, address: ' 0xabc ' })).toEqual({});
  expect(whereToProblems({ ...way, address: ' ' })).toHaveProperty('address');
});
