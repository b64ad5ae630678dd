import { expect, test } from '@jest/globals';
import { scopeMeanings } from '@quittance/client';
import { addressesIn, includes, presets, scopeGroups, withoutIncluded } from './token-scopes.ts';

test('every scope is in one group, and no preset has one twice', () => {
  const grouped = Object.values(scopeGroups).flat();
  expect(grouped.toSorted()).toEqual(Object.keys(scopeMeanings).toSorted());
  for (const { scopes } of presets) expect(withoutIncluded(scopes)).toEqual(scopes);
});

test('what writes also reads, and approving is a scope of its own', () => {
  expect(includes(['payouts:write'], 'payouts:read')).toBe(true);
  expect(includes(['payouts:write'], 'payouts:approve')).toBe(false);
  expect(includes(['payouts:approve'], 'payouts:read')).toBe(false);
  expect(withoutIncluded(['invoices:read', 'invoices:write', 'payouts:read'])).toEqual([
    'invoices:write',
    'payouts:read',
  ]);
});

test('only the presets of payouts move money', () => {
  const moving = presets.filter(({ scopes }) =>
    scopes.some((scope) => scopeMeanings[scope].includes('Moves money')),
  );
  expect(moving.map(({ label }) => label)).toEqual(['Payouts']);
});

test('an allow-list is read however its lines are separated', () => {
  expect(addressesIn(' 203.0.113.7\n10.0.0.0/8, 2001:db8::/32;192.0.2.1 ')).toEqual([
    '203.0.113.7',
    '10.0.0.0/8',
    '2001:db8::/32',
    '192.0.2.1',
  ]);
  expect(addressesIn(' \n ')).toEqual([]);
});
