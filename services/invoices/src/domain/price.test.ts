import { describe, expect, it } from '@jest/globals';
import { ONE_DOLLAR } from '@quittance/shared/money';
import { aRate } from '@quittance/testkit/builders';
import { priceLimits, readPrice } from './price.ts';

const atLeast = (limit: string) => ({ rule: 'atLeast', limit });
const atMost = (limit: string) => ({ rule: 'atMost', limit });
const decimals = (places: number) => ({ rule: 'decimals', places });

describe('a price', () => {
  const limits = {
    dollars: priceLimits('USD', ONE_DOLLAR),
    euros: priceLimits('EUR', aRate('1.0845')),
    yen: priceLimits('JPY', aRate('0.006666666666666667')),
    'yen without a known rate': priceLimits('JPY', undefined),
  };
  it.each([
    ['dollars', '5', 500n, []],
    ['dollars', '5.00', 500n, []],
    ['dollars', '5.000', 500n, []],
    ['dollars', '19.99', 1_999n, []],
    ['dollars', '1000000000000', 100_000_000_000_000n, []],
    ['dollars', '4.99', 499n, [atLeast('5')]],
    ['dollars', '0', 0n, [atLeast('5')]],
    ['dollars', '-5', -500n, [atLeast('5')]],
    ['dollars', '1000000000000.01', 100_000_000_000_001n, [atMost('1000000000000')]],
    ['dollars', '5.001', 500n, [decimals(2)]],
    ['dollars', '4.999', 400n, [atLeast('5'), decimals(2)]],
    ['dollars', '0.001', 0n, [atLeast('5'), decimals(2)]],
    // 5 / 1.0845 = 4.6104…, 10^12 / 1.0845 = 922083909635.7768…; 5 dollars are 750 yen.
    ['euros', '4.62', 462n, []],
    ['euros', '4.61', 461n, [atLeast('4.62')]],
    ['euros', '922083909635.78', 92_208_390_963_578n, []],
    ['euros', '922083909635.79', 92_208_390_963_579n, [atMost('922083909635.78')]],
    ['yen', '750', 75_000n, []],
    ['yen', '750.00', 75_000n, []],
    ['yen', '749', 74_900n, [atLeast('750')]],
    ['yen', '1000.5', 100_000n, [decimals(0)]],
    ['yen', '1.5', 100n, [atLeast('750'), decimals(0)]],
    ['yen without a known rate', '1', 100n, []],
    ['yen without a known rate', '1.5', 100n, [decimals(0)]],
  ] as const)(
    'in %s is read from %s, and has the limits of the dollar',
    (currency, text, amount, problems) => {
      expect(readPrice(text, limits[currency])).toEqual({ amount, problems });
    },
  );

  it.each([
    ['dollars', '9'.repeat(78), [atMost('1000000000000')]],
    ['dollars', `-${'9'.repeat(78)}`, [atLeast('5')]],
    ['dollars', `${'9'.repeat(78)}.999`, [atMost('1000000000000'), decimals(2)]],
    ['yen', '9'.repeat(100), [atMost('150000000000000')]],
    ['yen', `-${'9'.repeat(100)}`, [atLeast('750')]],
    ['yen without a known rate', '9'.repeat(100), []],
    ['yen without a known rate', `-${'9'.repeat(100)}`, []],
  ] as const)(
    'in %s that no column can hold has only the problem of its size: %s',
    (currency, text, problems) => {
      expect(readPrice(text, limits[currency]).problems).toEqual(problems);
    },
  );
});
