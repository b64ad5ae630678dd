import { expect, test } from '@jest/globals';
import { amountText } from './amount.ts';

test.each([
  [25, 'usd', '25.00'],
  [10.1, 'EUR', '10.10'],
  ['10.005', 'usd', '10.01'],
  ['10.0049999', 'usd', '10.00'],
  [0.995, 'usd', '1.00'],
  ['99.999', 'chf', '100.00'],
  [1999.5, 'jpy', '2000'],
  ['0.4', 'JPY', '0'],
  [1e-7, 'usd', '0.00'],
  [{ value: '25.5' }, 'usd', '25.50'],
  [{ raw: { value: '7' }, numeric: 7 }, 'usd', '7.00'],
  [{ numeric: 7.25 }, 'usd', '7.25'],
  [{ toFixed: () => '12345678901234567890.12' }, 'usd', '12345678901234567890.12'],
] as const)('the amount %j in %s is %s', (amount, currency, text) => {
  expect(amountText(amount, currency)).toBe(text);
});

test.each([-1, 1e21, '-1', Number.NaN, 'ten', '', {}])('the amount %j is refused', (amount) => {
  expect(() => amountText(amount as string, 'usd')).toThrow('is not a positive number');
});
