import { expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { amountRemaining } from './invoice.ts';

test.each([
  [10n, 2n, 3n, 5n],
  [10n, 0n, 9n, 1n],
  [10n, 4n, 6n, 0n],
  [10n, 6n, 6n, 0n],
])('of %p due, with %p pending and %p paid, %p remain', (due, pending, paid, remaining) => {
  const [amountDue, pendingAmount, paidAmount] = [units(due), units(pending), units(paid)];
  expect(amountRemaining({ amountDue, pendingAmount, paidAmount })).toBe(remaining);
});
