import { expect, test } from '@jest/globals';
import { ATTEMPTS_MAX, BUMP_AFTER_MS, FEE_MAX, mostFor, nextFeeRate } from './bump.ts';

const now = new Date('2026-01-01T12:00:00Z');
const long = new Date(now.getTime() - BUMP_AFTER_MS);
const stuck = { attempt: 1, sentAt: long, feeRate: 8n };

test.each([
  ['a quarter more', stuck, 2n, 10n],
  ['what blocks cost by now, when that is more', stuck, 40n, 40n],
  ['at least one more', { ...stuck, feeRate: 1n }, 1n, 2n],
  ['nothing that nobody should have to pay', stuck, 1_000n, 300n],
  ['not while it may wait', { ...stuck, sentAt: new Date(long.getTime() + 1) }, 40n, undefined],
  ['not while it was never sent', { ...stuck, sentAt: null }, 40n, undefined],
  ['not for ever', { ...stuck, attempt: ATTEMPTS_MAX }, 40n, undefined],
  ['not beyond the limit', { ...stuck, feeRate: 300n }, 40n, undefined],
])('the next fee rate is %s', (_what, attempt, current, rate) => {
  expect(nextFeeRate(attempt, current, now)).toBe(rate);
});

test('a replacement costs at most twice its own fee, and never more than the limit', () => {
  expect(mostFor(10n, 250)).toBe(5_000n);
  expect(mostFor(300n, 10_000)).toBe(FEE_MAX);
});
