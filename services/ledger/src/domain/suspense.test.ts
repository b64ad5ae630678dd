import { expect, it } from '@jest/globals';
import { type Units, units } from '@quittance/shared/money';
import { remainderOf, type Suspense, type SuspenseState, suspenseMoves, suspenseStates } from './suspense.ts';

const before = (to: SuspenseState) =>
  suspenseStates.filter((from) => (suspenseMoves[from] as readonly SuspenseState[]).includes(to));

it('a deposit in suspense is accepted or returned once, and can always be reversed', () => {
  expect(before('accepted')).toEqual(['open']);
  expect(before('returning')).toEqual(['open']);
  expect(before('returned')).toEqual(['returning']);
  // The payout that was to refund it has failed.
  expect(before('open')).toEqual(['returning']);
  expect(before('reversed')).toEqual(['open', 'accepted', 'returning', 'returned']);
});

it.each<[SuspenseState | null, bigint, string, bigint]>([
  ['open', 3n, 'unresolved', 5n],
  ['accepted', 3n, 'available', 3n],
  ['accepted', 7n, 'available', 5n],
  ['returning', 7n, 'unresolved', 0n],
  ['returned', 7n, 'unresolved', 0n],
  ['reversed', 7n, 'unresolved', 0n],
  [null, 7n, 'available', 7n],
])(
  'of 5 in the state %s, with %s available, a reversal finds in %s: %s',
  (state, available, bucket, amount) => {
    const suspense: Suspense = state === null ? { state, left: null } : { state, left: units(5n) };
    expect(remainderOf(suspense, available as Units)).toEqual({ bucket, amount });
  },
);
