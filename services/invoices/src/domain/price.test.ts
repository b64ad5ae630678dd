import { describe, expect, it } from '@jest/globals';
import { ONE_DOLLAR, parseRate, type Rate } from '@quittance/shared/money';
import { priceLimits, readPrice } from './price.ts';

const atLeast = (limit: string) => ({ rule: 'atLeast', limit });
const atMost = (limit: string) => ({ rule: 'atMost', limit });
const decimals = (places: number) => ({ rule: 'decimals', places });

function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (!parsed.ok) throw new Error(`no rate: ${text}`);
  return parsed.value;
}

describe('a price in US dollars', () => {
  const limits = priceLimits('USD', ONE_DOLLAR);
  it.each([
    ['5', 500n, []],
    ['5.00', 500n, []],
    ['5.000', 500n, []],
    ['19.99', 1_999n, []],
    ['1000000000000', 100_000_000_000_000n, []],
    ['4.99', 499n, [atLeast('5')]],
    ['0', 0n, [atLeast('5')]],
    ['-5', -500n, [atLeast('5')]],
    ['1000000000000.01', 100_000_000_000_001n, [atMost('1000000000000')]],
    ['5.001', 500n, [decimals(2)]],
    ['4.999', 400n, [atLeast('5'), decimals(2)]],
    ['0.001', 0n, [atLeast('5'), decimals(2)]],
  ])('is read from %s', (text, amount, problems) => {
    expect(readPrice(text, limits)).toEqual({ amount, problems });
  });

  it.each([
    [`${'9'.repeat(78)}`, [atMost('1000000000000')]],
    [`-${'9'.repeat(78)}`, [atLeast('5')]],
    [`${'9'.repeat(78)}.999`, [atMost('1000000000000'), decimals(2)]],
  ])('has only the problem of its size when it is %s', (text, problems) => {
    expect(readPrice(text, limits).problems).toEqual(problems);
  });
});

describe('a price in another currency', () => {
  const euros = priceLimits('EUR', rate('1.0845'));
  const yen = priceLimits('JPY', rate('0.006666666666666667'));
  // 5 / 1.0845 = 4.6104…, 10^12 / 1.0845 = 922083909635.7768…; 5 dollars are 750 yen.
  it.each([
    ['4.62', euros, 462n, []],
    ['4.61', euros, 461n, [atLeast('4.62')]],
    ['922083909635.78', euros, 92_208_390_963_578n, []],
    ['922083909635.79', euros, 92_208_390_963_579n, [atMost('922083909635.78')]],
    ['750', yen, 75_000n, []],
    ['750.00', yen, 75_000n, []],
    ['749', yen, 74_900n, [atLeast('750')]],
    ['1000.5', yen, 100_000n, [decimals(0)]],
    ['1.5', yen, 100n, [atLeast('750'), decimals(0)]],
  ])(
    'has the limits of the dollar at its rate, and its own decimals: %s',
    (text, limits, amount, problems) => {
      expect(readPrice(text, limits)).toEqual({ amount, problems });
    },
  );

  it.each([
    ['9', atMost('150000000000000')],
    ['-9', atLeast('750')],
  ])('is beyond its limits when no column can hold it: %s and 99 digits more', (first, problem) => {
    expect(readPrice(first + '9'.repeat(99), yen).problems).toEqual([problem]);
    expect(readPrice(first + '9'.repeat(99), priceLimits('JPY', undefined)).problems).toEqual([]);
  });

  it('is checked for its decimals alone while its rate is not known', () => {
    const unknown = priceLimits('JPY', undefined);
    expect(readPrice('1', unknown)).toEqual({ amount: 100n, problems: [] });
    expect(readPrice('1.5', unknown).problems).toEqual([decimals(0)]);
  });
});
