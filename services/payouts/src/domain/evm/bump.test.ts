import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bumpedFees, bumpPolicy, type StuckGroup } from './bump.ts';

const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas });
const aStuck = (given: Partial<StuckGroup> = {}): StuckGroup => ({
  first: fees(100n, 10n),
  newest: fees(100n, 10n),
  attempts: 1,
  isNext: true,
  ...given,
});

it.each([
  ['an eighth more, rounded up', aStuck(), fees(50n, 1n), fees(113n, 12n)],
  ['what is usual, when that is more', aStuck(), fees(400n, 30n), fees(400n, 30n)],
  ['in each field by itself', aStuck(), fees(400n, 1n), fees(400n, 12n)],
  ['never more than the cap', aStuck(), fees(5_000n, 5_000n), fees(1_000n, 100n)],
  ['nothing beyond the cap', aStuck({ newest: fees(900n, 10n) }), fees(5_000n, 1n), undefined],
  ['nothing after so many attempts', aStuck({ attempts: 7 }), fees(50n, 1n), undefined],
  ['the last one', aStuck({ attempts: 6 }), fees(50n, 1n), fees(113n, 12n)],
  ['nothing for one that only waits', aStuck({ isNext: false }), fees(100n, 99n), undefined],
  ['one that waits and offers too little', aStuck({ isNext: false }), fees(101n, 1n), fees(113n, 12n)],
])('%s', (_, stuck, usual, expected) => {
  expect(bumpedFees(stuck, usual)).toEqual(expected);
});

it('every next attempt is high enough for nodes, within the limits, and the attempts end', () => {
  const amount = fc.bigInt(1n, 10n ** 12n);
  fc.assert(
    fc.property(
      amount,
      amount,
      fc.array(fc.tuple(amount, amount), { minLength: 20, maxLength: 20 }),
      (a, b, usual) => {
        const first = a > b ? fees(a, b) : fees(b, a);
        let newest = first;
        let attempts = 1;
        for (const [maxFee, tip] of usual) {
          const next = bumpedFees({ first, newest, attempts, isNext: true }, fees(maxFee, tip));
          if (next === undefined) break;
          expect(next.maxFeePerGas * 1_000n).toBeGreaterThanOrEqual(newest.maxFeePerGas * 1_125n);
          expect(next.maxPriorityFeePerGas * 1_000n).toBeGreaterThanOrEqual(
            newest.maxPriorityFeePerGas * 1_125n,
          );
          expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas);
          expect(next.maxFeePerGas).toBeLessThanOrEqual(first.maxFeePerGas * bumpPolicy.timesFirstMax);
          newest = next;
          attempts += 1;
        }
        expect(attempts).toBeLessThanOrEqual(bumpPolicy.bumpsMax + 1);
      },
    ),
  );
});
