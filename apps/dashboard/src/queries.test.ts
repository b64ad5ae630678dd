import { expect, test } from '@jest/globals';
import { ConnectionError, InvalidRequestError } from '@quittance/client';
import { textOf } from './queries.ts';

test('whatever goes wrong is told in words, also what nobody has thought of', () => {
  expect(textOf(new ConnectionError(''))).toMatch(/cannot be reached/);
  expect(textOf(new InvalidRequestError('The amount is too small.'))).toBe('The amount is too small.');
  expect(textOf(new TypeError('x is not a function'))).toMatch(/TypeError: x is not a function/);
  expect(textOf('lost')).toMatch(/lost/);
});
