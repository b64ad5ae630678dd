import { expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { amountRemaining, mayFollow, type Status, statuses } from './invoice.ts';

test.each([
  ['pending', 10n, 2n, 3n, 0n, 5n],
  ['partially_paid', 10n, 0n, 9n, 0n, 1n],
  ['confirmed', 10n, 4n, 6n, 0n, 0n],
  ['paid', 10n, 6n, 6n, 0n, 0n],
  // Within the tolerance.
  ['confirmed', 10n, 9n, 0n, 0n, 0n],
  ['paid', 10n, 0n, 9n, 0n, 0n],
  ['paid', 10n, 0n, 4n, 5n, 6n],
  // More than was due is on its way again.
  ['paid', 10n, 8n, 4n, 1n, 0n],
] as const)(
  'of a %s invoice of %p due, with %p pending, %p paid and %p reversed, %p remain',
  (status, due, pending, paid, reversed, remaining) => {
    const [amountDue, pendingAmount] = [units(due), units(pending)];
    const [paidAmount, reversedAmount] = [units(paid), units(reversed)];
    expect(amountRemaining({ status, amountDue, pendingAmount, paidAmount, reversedAmount })).toBe(remaining);
  },
);

test.each<[Status, Status[]]>([
  ['pending', ['pending', 'confirmed', 'partially_paid', 'paid', 'expired']],
  ['partially_paid', ['pending', 'confirmed', 'partially_paid', 'paid', 'expired']],
  ['confirmed', ['pending', 'confirmed', 'partially_paid', 'paid', 'expired']],
  ['paid', ['paid']],
  ['expired', ['expired']],
])('a %s invoice becomes or stays one of %j, and nothing else', (from, followers) => {
  expect(statuses.filter((to) => mayFollow(from, to))).toEqual(followers);
});
