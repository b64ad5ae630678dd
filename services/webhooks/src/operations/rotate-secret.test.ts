import { expect, test } from '@jest/globals';
import type { GoodSecret } from '../store/secrets.ts';
import { rotate } from './rotate-secret.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const inHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000);
/** The newest, and so many former ones that end an hour apart. */
const goodOf = (former: number): GoodSecret[] => [
  { endsAt: null },
  ...Array.from({ length: former }, (_, i) => ({ endsAt: inHours(former - i) })),
];

test.each([
  [1, 24],
  [0, 24],
  [3, 1],
])('with %i former ones, they may overlap for %i hours', (former, hours) => {
  expect(rotate(goodOf(former), hours, now)).toEqual({ kind: 'rotated', formerUntil: inHours(hours) });
});

test('a sixth has to wait for the first to end', () => {
  expect(rotate(goodOf(4), 24, now)).toEqual({ kind: 'too_many', until: inHours(1) });
});

test('a leaked one ends at once, however many there are', () => {
  expect(rotate(goodOf(4), 0, now)).toEqual({ kind: 'rotated', formerUntil: now });
});
