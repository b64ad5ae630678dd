import { expect, test } from '@jest/globals';
import { expiryOf } from './token-expiry.ts';

const now = new Date('2026-11-26T12:00:00Z');

test('a token expires after days, at the end of a day, or never', () => {
  expect(expiryOf('30', null, now)).toEqual(new Date('2026-12-26T12:00:00Z'));
  expect(expiryOf('day', '2026-12-31', now)).toEqual(new Date(2026, 11, 31, 23, 59, 59));
  expect(expiryOf('never', '2026-12-31', now)).toBeUndefined();
});
