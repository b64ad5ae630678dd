import { expect, it, test } from '@jest/globals';
import { defaultSettings, EXPIRES_IN_MAX, EXPIRES_IN_MIN, settingsInForce } from './invoice-settings.ts';

test('the terms of an invoice and an account without settings are those of the contract', () => {
  expect([EXPIRES_IN_MIN, EXPIRES_IN_MAX]).toEqual([1, 120]);
  expect(defaultSettings).toEqual({ currency: 'USD', expiresIn: 60, toleranceBps: null, redirectHosts: [] });
});

it.each([
  [null, 50, 50],
  [0, 50, 0],
  [200, 50, 200],
])('an account with the tolerance %p has, beside %p of the operator, %p', (own, operators, inForce) => {
  const stored = { currency: 'EUR', expiresIn: null, toleranceBps: own, redirectHosts: [] } as const;
  expect(settingsInForce(stored, operators)).toEqual({ ...stored, toleranceBps: inForce });
});
