import { expect, it } from '@jest/globals';
import { type Units, units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import {
  type AssetSigningLimits,
  exceededLimit,
  exceedsFees,
  noSums,
  payoutLimits,
  type Sums,
} from './limits.ts';

const sums = (given: { [S in keyof Sums]?: bigint }): Sums => ({ ...noSums, ...given }) as Sums;
const limits = (given: { [L in keyof AssetSigningLimits]?: bigint }): AssetSigningLimits =>
  given as AssetSigningLimits;

it.each([
  ['per_payout', {}, 100n],
  ['per_account_24h', { ofAccount24h: 60n }, 40n],
  ['per_hour', { ofHour: 60n }, 40n],
  ['per_24h', { of24h: 60n }, 40n],
] as const)('%s is exceeded by more than it, and not by as much', (name, before, most) => {
  const of = limits({ [name]: 100n });
  expect(exceededLimit(of, units(most), sums(before))).toBeUndefined();
  expect(exceededLimit(of, units(most + 1n), sums(before))).toBe(name);
});

it('of several limits that are exceeded the narrowest is named', () => {
  const all = limits({ per_24h: 1n, per_hour: 1n, per_account_24h: 1n, per_payout: 1n });
  expect(exceededLimit(all, units(2n), noSums)).toBe('per_payout');
  expect(exceededLimit({ ...all, per_payout: undefined }, units(2n), noSums)).toBe('per_account_24h');
  expect(exceededLimit(limits({ per_24h: 1n, per_hour: 1n }), units(2n), noSums)).toBe('per_hour');
});

it('before anything was cleared, all sums are zero', () => {
  expect(Object.values(noSums)).toEqual([0n, 0n, 0n]);
});

it('without a limit nothing is exceeded, and a limit of zero is exceeded by everything', () => {
  const much = units(10n ** 77n);
  expect(exceededLimit({}, much, sums({ of24h: much, ofHour: much, ofAccount24h: much }))).toBeUndefined();
  expect(exceedsFees({}, much, much)).toBe(false);
  for (const name of payoutLimits)
    expect(exceededLimit(limits({ [name]: 0n }), units(1n), noSums)).toBe(name);
  expect(exceedsFees(limits({ fees_per_24h: 0n }), units(1n), units(0n))).toBe(true);
});

it('the fees of a day are exceeded by more than their limit, and not by as much', () => {
  const of = limits({ fees_per_24h: 100n });
  expect(exceedsFees(of, units(40n), units(60n))).toBe(false);
  expect(exceedsFees(of, units(41n), units(60n))).toBe(true);
});

const amount = fc.bigInt({ min: 0n, max: 200n }).map((value) => value as Units);
const anySums = fc.record({ ofAccount24h: amount, ofHour: amount, of24h: amount });
const anyLimits = fc.record(
  { per_payout: amount, per_account_24h: amount, per_hour: amount, per_24h: amount },
  { requiredKeys: [] },
);

it('what is within the limits stays so with less before it, and with higher limits', () =>
  assertProperty(
    fc.property(anyLimits, amount, anySums, amount, (of, paid, before, more) => {
      fc.pre(exceededLimit(of, paid, before) === undefined);
      const less = Object.fromEntries(
        Object.entries(before).map(([name, sum]) => [name, sum > more ? sum - more : 0n]),
      );
      expect(exceededLimit(of, paid, less as Sums)).toBeUndefined();
      const higher = Object.fromEntries(Object.entries(of).map(([name, limit]) => [name, limit + more]));
      expect(exceededLimit(higher as AssetSigningLimits, paid, before)).toBeUndefined();
    }),
  ));
