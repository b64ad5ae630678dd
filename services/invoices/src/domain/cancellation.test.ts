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

const one = 1n as Units;

test.each([
  ['in the mempool', { timelyWaiting: one }],
  ['in a block', { timelyPending: one }],
  ['final', { timelyFinal: one }],
  ['late in the mempool', { lateWaiting: one }],
  ['late in a block', { latePending: one }],
  ['late and final', { lateFinal: one }],
  ['dropped, and may come back', { isAwaited: true }],
])('an invoice is not cancelled while a payment is %s', (_, seen) => {
  const decided = decideCancellation(pending, { ...nothing, ...seen }, now);
  expect(decided).toEqual({ ok: false, refusal: 'payment_seen' });
});

const part = { status: 'partially_paid', expiresAt: null, cancelledAt: null } as const;

test('an invoice that never expires is cancelled when all that was paid of it is final, and one that expires is not', () => {
  const paid = { ...nothing, timelyFinal: one };
  const cancelled = { ok: true, value: { cancelledAt: now, expiresAt: now } };
  expect(decideCancellation(part, paid, now)).toEqual(cancelled);
  const refused = { ok: false, refusal: 'payment_seen' };
  expect(decideCancellation({ ...part, expiresAt: after }, paid, now)).toEqual(refused);
});

test.each([
  ['not final', { timelyPending: one }],
  ['in the mempool', { timelyWaiting: one }],
  ['late', { lateFinal: one }],
  ['dropped, and may come back', { isAwaited: true }],
])('an invoice that never expires is not cancelled while another payment is %s', (_, seen) => {
  const decided = decideCancellation(part, { ...nothing, timelyFinal: one, ...seen }, now);
  expect(decided).toEqual({ ok: false, refusal: 'payment_seen' });
});

test.each(['paid', 'expired'] as const)('an invoice that is %s is not cancelled', (status) => {
  expect(decideCancellation({ ...pending, status }, nothing, now)).toEqual({ ok: false, refusal: status });
});

test('an invoice whose payment was reversed is not cancelled', () => {
  const decided = decideCancellation({ ...pending, status: 'partially_paid' }, nothing, now);
  expect(decided).toEqual({ ok: false, refusal: 'payment_seen' });
});

test('an invoice that was cancelled before, and expired by that, stays as it is', () => {
  const cancelled = { status: 'expired', expiresAt: before, cancelledAt: before } as const;
  expect(decideCancellation(cancelled, nothing, now)).toEqual({ ok: true, value: undefined });
});
