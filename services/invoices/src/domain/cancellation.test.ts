import { expect, test } from '@jest/globals';
import type { Units } from '@quittance/shared/money';
import { decideCancellation } from './cancellation.ts';
import type { PaymentTotals } from './invoice-state.ts';

const none = 0n as Units;
const nothing: PaymentTotals = {
  timelyFinal: none,
  timelyPending: none,
  timelyCredited: none,
  lateFinal: none,
  latePending: none,
  timelyWaiting: none,
  lateWaiting: none,
  reversed: none,
  isAwaited: false,
  unsettled: 0,
  unsettledUncounted: 0,
  lost: 0,
  isReversalUnreported: false,
  isTimelyUnreported: false,
  isLateUnreported: false,
};
const now = new Date('2026-03-01T12:00:00.000Z');
const [before, after] = [-1, 1].map((ms) => new Date(now.getTime() + ms)) as [Date, Date];
const pending = { status: 'pending', expiresAt: after, cancelledAt: null } as const;

test.each([
  [after, now],
  [null, now],
  [before, before],
])('an invoice that expires at %p, cancelled now, expires at %p', (expiresAt, expected) => {
  const decided = decideCancellation({ ...pending, expiresAt }, nothing, now);
  expect(decided).toEqual({ ok: true, value: { cancelledAt: now, expiresAt: expected } });
});

test.each([
  ['in the mempool', { timelyWaiting: 1n as Units }],
  ['late in a block', { latePending: 1n as Units }],
  ['dropped, and may come back', { isAwaited: true }],
])('an invoice is not cancelled while a payment is %s', (_, seen) => {
  const decided = decideCancellation(pending, { ...nothing, ...seen }, now);
  expect(decided).toEqual({ ok: false, refusal: 'payment_seen' });
});
