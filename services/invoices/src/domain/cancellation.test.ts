import { expect, test } from '@jest/globals';
import type { Units } from '@quittance/shared/money';
import { noPayments } from '@quittance/testkit/builders';
import { decideCancellation } from './cancellation.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const [before, after] = [-1, 1].map((ms) => new Date(now.getTime() + ms)) as [Date, Date];
const pending = { status: 'pending', expiresAt: after, cancelledAt: null } as const;

test.each([
  [after, now],
  [null, now],
  [before, before],
])('an invoice that expires at %p, cancelled now, expires at %p', (expiresAt, expected) => {
  const decided = decideCancellation({ ...pending, expiresAt }, noPayments, now);
  expect(decided).toEqual({ ok: true, value: { cancelledAt: now, expiresAt: expected } });
});

const one = 1n as Units;
const unending = { status: 'partially_paid', expiresAt: null, cancelledAt: null } as const;
const ending = { ...unending, expiresAt: after };
const paid = { timelyFinal: one };

test.each([
  ['a payment is in the mempool', pending, { timelyWaiting: one }],
  ['a payment is in a block', pending, { timelyPending: one }],
  ['a payment is final', pending, paid],
  ['a payment is late in the mempool', pending, { lateWaiting: one }],
  ['a payment is late in a block', pending, { latePending: one }],
  ['a payment is late and final', pending, { lateFinal: one }],
  ['a payment is dropped, and may come back', pending, { isAwaited: true }],
  ['a part of it is paid, and it expires', ending, paid],
  ['a payment of it was reversed, and it expires', ending, {}],
  ['a payment of it was reversed, and it never expires', unending, {}],
  ['all of it is paid, and its credit is on the way', { ...unending, status: 'confirmed' } as const, paid],
  ['a payment beside the final one is not final', unending, { ...paid, timelyPending: one }],
  ['a payment beside the final one is in the mempool', unending, { ...paid, timelyWaiting: one }],
  ['a payment beside the final one is late', unending, { ...paid, lateFinal: one }],
  ['a payment beside the final one may come back', unending, { ...paid, isAwaited: true }],
])('an invoice is not cancelled while %s', (_, invoice, seen) => {
  const decided = decideCancellation(invoice, { ...noPayments, ...seen }, now);
  expect(decided).toEqual({ ok: false, refusal: 'payment_seen' });
});

test('an invoice that never expires is cancelled when all that was paid of it is final', () => {
  const cancelled = { ok: true, value: { cancelledAt: now, expiresAt: now } };
  expect(decideCancellation(unending, { ...noPayments, ...paid }, now)).toEqual(cancelled);
});

test.each(['paid', 'expired'] as const)('an invoice that is %s is not cancelled', (status) => {
  expect(decideCancellation({ ...pending, status }, noPayments, now)).toEqual({ ok: false, refusal: status });
});

test('an invoice that was cancelled before, and expired by that, stays as it is', () => {
  const cancelled = { status: 'expired', expiresAt: before, cancelledAt: before } as const;
  expect(decideCancellation(cancelled, noPayments, now)).toEqual({ ok: true, value: undefined });
});
