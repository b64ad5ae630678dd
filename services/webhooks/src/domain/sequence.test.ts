import { expect, test } from '@jest/globals';
import { later } from './envelope.ts';

test.each([
  ['0', '0', '0'],
  ['9', '10', '10'],
  ['10', '9', '10'],
  ['9007199254740993', '9007199254740992', '9007199254740993'],
])('the later of %s and %s is %s', (a, b, expected) => {
  expect(later(a, b)).toBe(expected);
});
