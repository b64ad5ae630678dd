import { expect, test } from '@jest/globals';
import { givenBy, invitationLink, mayChange } from './roles.ts';

test('only owners make and change owners', () => {
  expect(givenBy('owner')).toContain('owner');
  expect(givenBy('admin')).toEqual(['admin', 'developer', 'accountant', 'viewer']);
  expect(mayChange('admin', 'owner')).toBe(false);
  expect(mayChange('admin', 'admin')).toBe(true);
  expect(mayChange('owner', 'owner')).toBe(true);
});

test('the token of an invitation is behind #, which no browser sends', () => {
  expect(new URL(invitationLink('https://pay.example.com', 'abc-_1')).hash).toBe('#invitation=abc-_1');
});
