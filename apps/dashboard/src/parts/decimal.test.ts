import { expect, test } from '@jest/globals';
import { add, compare, divideDown, grouped, multiply, subtract, sum } from './decimal.ts';

test('amounts are added and subtracted to the last digit', () => {
  expect(add('0.1', '0.2')).toBe('0.3');
  expect(add('9007199254740993', '0.000000000000000001')).toBe('9007199254740993.000000000000000001');
  expect(subtract('1', '0.000000001')).toBe('0.999999999');
  expect(subtract('0.5', '2')).toBe('-1.5');
  expect(sum(['0.1', '0.1', '0.1'])).toBe('0.3');
  expect(sum([])).toBe('0');
});

test('amounts are multiplied exactly, and quotients are rounded down to the last digit', () => {
  expect(multiply('0.000000000000000001', '9007199254740993')).toBe('0.009007199254740993');
  expect(multiply('25', '1.08')).toBe('27');
  expect(divideDown('27', '2500', 18)).toBe('0.0108');
  expect(divideDown('2', '3', 6)).toBe('0.666666');
  expect(divideDown('1', '1000', 2)).toBe('0');
  expect(() => divideDown('1', '0', 2)).toThrow(RangeError);
});

test('amounts are compared as numbers, whatever their length', () => {
  expect(['10', '9.99', '9.990', '-1'].toSorted(compare)).toEqual(['-1', '9.99', '9.990', '10']);
});

test('an amount is shown with all of its digits', () => {
  expect(grouped('1234567.000001')).toBe('1,234,567.000001');
  expect(grouped('-999')).toBe('-999');
  expect(grouped('-1000')).toBe('-1,000');
});

test('what is no decimal is refused', () => {
  for (const wrong of ['', '1e5', '.5', '1,5', 'NaN']) expect(() => add(wrong, '1')).toThrow('is no decimal');
});
