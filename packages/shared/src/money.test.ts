import { describe, expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import { aRate } from '@quittance/testkit/builders';
import fc from 'fast-check';
import {
  type Cents,
  cents,
  convertUnits,
  fiatToUnits,
  formatCents,
  formatFiat,
  formatRate,
  formatUnits,
  inverseRate,
  lessTolerance,
  medianRate,
  ONE_DOLLAR,
  parseCents,
  parseFiat,
  parseUnits,
  percentUp,
  plainDecimal,
  type Rate,
  rateFromSource,
  roundUpToDigits,
  spreadBasisPoints,
  units,
  unitsToFiat,
  unitsToUsd,
  usdToFiat,
} from './money.ts';

const anyDecimals = fc.integer({ min: 0, max: 30 });
const anyUnits = fc.bigInt({ min: 0n, max: 10n ** 60n }).map(units);

describe('amounts as text', () => {
  test('what is formatted is parsed back exactly, at 0 to 30 decimals', async () => {
    await assertProperty(
      fc.property(anyUnits, anyDecimals, (amount, decimals) => {
        const text = formatUnits(amount, decimals);
        expect(text).toMatch(/^\d+(\.\d*[1-9])?$/);
        expect(parseUnits(text, decimals)).toEqual({ ok: true, value: amount });
      }),
    );
  });

  test('a digit more than the asset has is refused, never rounded', async () => {
    await assertProperty(
      fc.property(anyUnits, anyDecimals, fc.integer({ min: 1, max: 9 }), (amount, decimals, digit) => {
        const whole = formatUnits(amount, decimals).split('.')[0] ?? '';
        const text = `${whole}.${'0'.repeat(decimals)}${digit}`;
        expect(parseUnits(text, decimals)).toEqual({ ok: false, refusal: 'too_many_decimals' });
      }),
    );
  });

  test('zeros behind the last decimal are no digits of the amount', () => {
    expect(parseUnits('1.2500000000000000000000', 2)).toEqual({ ok: true, value: 125n });
    expect(parseUnits('1.0', 0)).toEqual({ ok: true, value: 1n });
  });

  test.each(['', '.', '1.', '.5', '+1', '1e3', '0x10', '1,5', ' 1', '1 ', 'NaN', 'Infinity', '--1', '١'])(
    '%j is no amount',
    (text) => {
      expect(parseUnits(text, 18)).toEqual({ ok: false, refusal: 'not_a_number' });
    },
  );

  test('more than 78 digits are refused', () => {
    expect(parseUnits('9'.repeat(78), 0)).toEqual({ ok: true, value: 10n ** 78n - 1n });
    expect(parseUnits('9'.repeat(79), 0)).toEqual({ ok: false, refusal: 'too_large' });
  });

  test('no exponent and no trailing zeros, however small or large', () => {
    expect(formatUnits(units(1n), 18)).toBe('0.000000000000000001');
    expect(formatUnits(units(0n), 18)).toBe('0');
    expect(formatUnits(units(10n ** 40n), 18)).toBe('10000000000000000000000');
    expect(formatUnits(units(-1500n), 3)).toBe('-1.5');
  });

  test('dollars have two decimals where the contract wants them', () => {
    expect(formatFiat(cents(500n))).toBe('5.00');
    expect(formatFiat(cents(1n))).toBe('0.01');
    expect(formatCents(cents(1250n))).toBe('12.5');
    expect(formatCents(cents(0n))).toBe('0');
    expect(parseCents('5.005')).toEqual({ ok: false, refusal: 'too_many_decimals' });
  });
});

describe('numbers as JSON writes them', () => {
  test.each([
    ['1', '1'],
    ['-0', '0'],
    ['0.0', '0'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['1.000000000000000001', '1.000000000000000001'],
    ['9007199254740993', '9007199254740993'],
    ['1e-18', '0.000000000000000001'],
    [`5.${'0'.repeat(300)}`, '5'],
    [`-${'0'.repeat(300)}5.10`, '-5.1'],
    [`0.${'0'.repeat(300)}`, '0'],
    [`0.5${'0'.repeat(300)}e1`, '5'],
  ])('%s is %s', (source, plain) => {
    expect(plainDecimal(source)).toBe(plain);
  });

  test.each([
    ...['1e400', '1e-400', '1e999999999', 'Infinity', 'NaN', '0x1', '', '1'.repeat(201)],
    ...['1e9000000000000001', '-1e99999999999999999999', '1e-9000000000000001', '1e-99999999999999999999'],
  ])('%s is no amount of ours', (source) => {
    expect(plainDecimal(source)).toBeUndefined();
  });

  test('nobody is kept busy by a body full of zeros', () => {
    const start = performance.now();
    const zeros = '0'.repeat(65_000);
    for (const source of [`0.${zeros}1`, `${zeros}x`, `${zeros}.${zeros}`, `1.${zeros}e`])
      plainDecimal(source);
    expect(performance.now() - start).toBeLessThan(500);
  });

  test('every digit of a plain number survives', async () => {
    await assertProperty(
      fc.property(anyUnits, anyDecimals, (amount, decimals) => {
        const text = formatUnits(amount, decimals);
        expect(plainDecimal(text)).toBe(text);
      }),
    );
  });
});

describe('rates', () => {
  const anyRate = fc.bigInt({ min: 1n, max: 10n ** 26n }).map((value) => value as Rate);
  const anyCents = fc.bigInt({ min: 500n, max: 10n ** 12n }).map((value) => value as Cents);

  test('the amount due covers the price in any currency, and one step less would not', async () => {
    const anyDecimals = fc.integer({ min: 0, max: 18 });
    await assertProperty(
      fc.property(anyCents, anyRate, anyRate, anyDecimals, (price, fiatRate, assetRate, decimals) => {
        const due = fiatToUnits(price, fiatRate, assetRate, decimals, 'up');
        const step = 10n ** BigInt(decimals - Math.min(decimals, 8));
        const worth = (amount: bigint) => amount * assetRate * 100n;
        const wanted = price * fiatRate * 10n ** BigInt(decimals);
        expect(due % step).toBe(0n);
        expect(worth(due) >= wanted).toBe(true);
        expect(worth(due - step) < wanted).toBe(true);
      }),
    );
  });

  test('the amount due is rounded once, from both exact rates', () => {
    const due = (price: bigint, fiat: string, asset: string, decimals: number) =>
      formatUnits(fiatToUnits(cents(price), aRate(fiat), aRate(asset), decimals, 'up'), decimals);
    expect(due(1_000n, '1.0845', '2500', 18)).toBe('0.004338');
    // A thousand yen: 6.666… dollars, which are not rounded to a cent on the way.
    expect(due(100_000n, '0.006666666666666667', '1', 6)).toBe('6.666667');
    expect(due(1_001n, '1', '3000', 18)).toBe('0.00333667');
  });

  test('dollars in another currency are rounded up to its smallest unit, by less than one', async () => {
    await assertProperty(
      fc.property(anyCents, anyRate, fc.constantFrom(0, 2), (usd, fiatRate, decimals) => {
        const fiat = usdToFiat(usd, fiatRate, decimals, 'up');
        const unit = 10n ** BigInt(2 - decimals);
        expect(fiat % unit).toBe(0n);
        expect(fiat * fiatRate >= usd * ONE_DOLLAR).toBe(true);
        expect((fiat - unit) * fiatRate < usd * ONE_DOLLAR).toBe(true);
      }),
    );
    expect(usdToFiat(cents(500n), aRate('1.0845'), 2, 'up')).toBe(462n);
    expect(usdToFiat(cents(500n), aRate('0.006666666666666667'), 0, 'up')).toBe(75_000n);
    expect(usdToFiat(cents(500n), ONE_DOLLAR, 2, 'up')).toBe(500n);
  });

  test('the least price of an amount of an asset is worth it, and one unit of the currency less is not', async () => {
    const someRate = fc.bigInt({ min: 1n, max: 10n ** 26n }).map((value) => value as Rate);
    const asset = fc.record({ rate: someRate, decimals: fc.integer({ min: 0, max: 18 }) });
    const currency = fc.record({ rate: someRate, decimals: fc.integer({ min: 0, max: 2 }) });
    await assertProperty(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }).map(units), asset, currency, (amount, of, at) => {
        const price = unitsToFiat(amount, of, at, 'up');
        const unit = 10n ** BigInt(2 - at.decimals);
        const worth = amount * of.rate * 100n;
        const worthOf = (fiat: bigint) => fiat * at.rate * 10n ** BigInt(of.decimals);
        expect(price % unit).toBe(0n);
        expect(worthOf(price) >= worth).toBe(true);
        expect(worthOf(price - unit) < worth).toBe(true);
        if (price < 10n ** 30n)
          expect(fiatToUnits(price, at.rate, of.rate, of.decimals, 'up') >= amount).toBe(true);
      }),
    );
    // 0.00001 BTC at 50000 dollars is half a dollar; at 1.0845 dollars for a euro that is 0.4610… euros.
    const bitcoin = { rate: aRate('50000'), decimals: 8 };
    expect(unitsToFiat(units(1_000n), bitcoin, { rate: ONE_DOLLAR, decimals: 2 }, 'up')).toBe(50n);
    expect(unitsToFiat(units(1_000n), bitcoin, { rate: aRate('1.0845'), decimals: 2 }, 'up')).toBe(47n);
  });

  test('a price of a dollar is inverted to the nearest of 18 decimals', async () => {
    await assertProperty(
      fc.property(anyRate, (price) => {
        const error = (inverseRate(price) ?? 0n) * price - ONE_DOLLAR * ONE_DOLLAR;
        expect(2n * (error < 0n ? -error : error) <= price).toBe(true);
      }),
    );
    expect(inverseRate(aRate('150'))).toBe(aRate('0.006666666666666667'));
    expect(inverseRate(aRate('0.8'))).toBe(aRate('1.25'));
    expect(inverseRate(aRate('3000000000000000000'))).toBeUndefined();
  });

  test('an amount of a currency has its decimals, or is refused', () => {
    expect(parseFiat('12.5', 2)).toEqual({ ok: true, value: 1_250n });
    expect(parseFiat('1250.00', 0)).toEqual({ ok: true, value: 125_000n });
    expect(parseFiat('12.5', 0)).toEqual({ ok: false, refusal: 'too_many_decimals' });
    expect(parseFiat('12.505', 2)).toEqual({ ok: false, refusal: 'too_many_decimals' });
  });

  test('what a balance is worth is rounded down', () => {
    expect(unitsToUsd(units(1_999_999n), aRate('1'), 6, 'down')).toBe(199n);
    expect(unitsToUsd(units(1n), aRate('2500'), 18, 'down')).toBe(0n);
  });

  test.each([
    ['2500.10', '2500.1'],
    ['1e-7', '0.0000001'],
    ['0.12345678901234567891', '0.123456789012345679'],
  ])('a source that prints %s means %s', (printed, meant) => {
    expect(formatRate(rateFromSource(printed) as Rate)).toBe(meant);
  });

  test.each(['0', '-1', '', 'null', 'Infinity', '1e400'])(
    'a source that prints %j has no price',
    (printed) => {
      expect(rateFromSource(printed)).toBeUndefined();
    },
  );

  test('the median is the middle one, or the mean of the middle two', () => {
    expect(medianRate([aRate('3'), aRate('1'), aRate('2')])).toBe(aRate('2'));
    expect(medianRate([aRate('4'), aRate('1'), aRate('2'), aRate('3')])).toBe(aRate('2.5'));
  });

  test('a spread is told in basis points of the lowest, rounded up', () => {
    expect(spreadBasisPoints([aRate('100'), aRate('101')])).toBe(100n);
    expect(spreadBasisPoints([aRate('100'), aRate('100.000001')])).toBe(1n);
    expect(spreadBasisPoints([aRate('7')])).toBe(0n);
  });

  test('a tolerance lowers what counts as paid, never below what was promised', () => {
    expect(lessTolerance(units(1_000n), 0)).toBe(1_000n);
    expect(lessTolerance(units(1_001n), 100)).toBe(991n);
  });
});

describe('conversions', () => {
  const priced = (text: string, decimals: number) => ({ rate: aRate(text), decimals });

  test.each([
    ['0.0013 ETH in USDC', 1_300_000_000_000_000n, priced('2500', 18), priced('1', 6), 3_250_000n],
    ['one wei in USDC, rounded up', 1n, priced('2500', 18), priced('1', 6), 1n],
    ['5,000 lamports in USDC', 5_000n, priced('150', 9), priced('0.9999', 6), 751n],
    ['nothing', 0n, priced('2500', 18), priced('1', 6), 0n],
    ['one USDC in BTC', 1_000_000n, priced('1', 6), priced('60000', 8), 1_667n],
  ])('%s', (_what, amount, from, to, expected) => {
    expect(convertUnits(units(amount), from, to, 'up')).toBe(expected);
  });

  test('into what has no rate are a defect', () => {
    expect(() => convertUnits(units(1n), priced('1', 6), priced('0', 6), 'up')).toThrow(/positive rate/);
  });

  test.each([
    [0n, 0n],
    [7n, 7n],
    [99n, 99n],
    [100n, 100n],
    [101n, 110n],
    [991n, 1_000n],
    [123_456n, 130_000n],
  ])('%s is %s in two digits', (amount, rounded) => {
    expect(roundUpToDigits(units(amount), 2)).toBe(rounded);
  });

  test('percents are rounded up', () => {
    expect(percentUp(units(101n), 150n)).toBe(152n);
    expect(percentUp(units(100n), 150n)).toBe(150n);
  });
});
