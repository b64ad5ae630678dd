import { expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { nextBalanceCheck, unexplained } from './balance.ts';

const MINUTE = 60_000;
const now = new Date('2026-03-08T12:00:00.000Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);

it('transfers up to the height explain the balance', () => {
  const movements = [
    { height: 5, amount: units(100n) },
    { height: 6, amount: units(-30n) },
    { height: 9, amount: units(1_000n) },
  ];
  expect(unexplained(units(77n), units(7n), movements, 8)).toBe(0n);
  expect(unexplained(units(80n), units(7n), movements, 8)).toBe(3n);
  expect(unexplained(units(77n), units(7n), movements, 9)).toBe(-1_000n);
});

it.each([
  [null, null, 0],
  [null, ago(24 * 60 * MINUTE), 0],
  [null, ago(24 * 60 * MINUTE + 1), 60 * MINUTE],
  [null, ago(90 * 24 * 60 * MINUTE), 60 * MINUTE],
  [ago(0), null, MINUTE],
  [ago(2 * MINUTE), null, MINUTE],
  [ago(60 * MINUTE), null, 15 * MINUTE],
  [ago(60 * MINUTE), ago(90 * 24 * 60 * MINUTE), 15 * MINUTE],
  [ago(4 * 24 * 60 * MINUTE), null, 24 * 60 * MINUTE],
])(
  'checks a balance that was done at %s, and without an end since %s, again after %i ms',
  (doneAt, unendingSince, wait) => {
    expect(nextBalanceCheck({ doneAt, unendingSince }, now)).toEqual(new Date(now.getTime() + wait));
  },
);

it('checks no balance after a week', () => {
  const week = 7 * 24 * 60 * MINUTE;
  expect(nextBalanceCheck({ doneAt: ago(week), unendingSince: null }, now)).not.toBeNull();
  expect(nextBalanceCheck({ doneAt: ago(week + 1), unendingSince: null }, now)).toBeNull();
});
