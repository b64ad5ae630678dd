import { expect, test } from '@jest/globals';
import { jsonProblem } from './json-problem.ts';

const invalid = (line: number, column: number, reason: string) =>
  `The body is not valid JSON: line ${line}, column ${column}: ${reason}.`;

test.each([
  ['{"asset":"ETH"', invalid(1, 15, "Expected ',' or '}' after property value")],
  ['{"asset":', invalid(1, 10, 'Unexpected end: a part is missing')],
  ['{"asset":"ETH",}', invalid(1, 16, 'Expected double-quoted property name')],
  ["{'asset':'ETH'}", invalid(1, 2, "Expected property name or '}'")],
  ['{\n  "asset": "ETH"\n  "amount": 5\n}', invalid(3, 3, "Expected ',' or '}' after property value")],
  ['{\n  "asset": "ETH",\n  "amount": ten\n}', invalid(3, 14, "Unexpected token 'e'")],
  ['{"paid":True}', invalid(1, 9, "Unexpected token 'T'")],
  ['{"amount":1.}', invalid(1, 13, 'Unterminated fractional number')],
  ['{"amount":10} x', invalid(1, 15, 'Unexpected non-whitespace character after JSON')],
  ['{"a":"🙂","b":x}', invalid(1, 14, "Unexpected token 'x'")],
])('%j breaks at its place', (text, hint) => {
  expect(jsonProblem(text)).toBe(hint);
});

test('a form and a byte order mark are named as such', () => {
  expect(jsonProblem('asset=ETH&amount=10')).toContain('is a form');
  expect(jsonProblem('\ufeff{}')).toContain('byte order mark');
});

test('JSON has no problem, and a long broken text is answered at once', () => {
  expect(jsonProblem('{"asset":"ETH"}')).toBeUndefined();
  const long = `{"a":"${'x'.repeat(60_000)}","b":y}`;
  expect(jsonProblem(long)).toBe(invalid(1, 60_013, "Unexpected token 'y'"));
});
