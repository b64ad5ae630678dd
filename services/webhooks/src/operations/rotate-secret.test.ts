import { expect, test } from '@jest/globals';
import type { ValidSecret } from '../store/endpoints.ts';
import { rotate } from './rotate-secret.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const inHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000);
/** The newest secret, and former ones that end an hour apart. */
const validOf = (former: number): ValidSecret[] => [
  { endsAt: null },
  ...Array.from({ length: former }, (_, i) => ({ endsAt: inHours(former - i) })),
];

test('a sixth secret is refused until the first ends', () => {
  expect(rotate(validOf(4), 24, now)).toEqual({
    ok: false,
    refusal: { kind: 'too_many', until: inHours(1) },
  });
});
