import { expect, test } from '@jest/globals';
import { tokenState } from './token-state.ts';

const now = new Date('2026-01-02T00:00:00Z');
const before = new Date('2026-01-01T00:00:00Z');
const after = new Date('2026-01-03T00:00:00Z');

test.each([
  [null, null, 'active'],
  [null, after, 'active'],
  [null, now, 'expired'],
  [null, before, 'expired'],
  [before, null, 'revoked'],
  [before, before, 'revoked'],
])('revoked %s, expires %s: %s', (revokedAt, expiresAt, state) => {
  expect(tokenState({ revokedAt, expiresAt }, now)).toBe(state);
});
