import { expect, test } from '@jest/globals';
import { ConnectionError, InvalidRequestError } from '@quittance/client';
import { errorsOf } from './form-errors.ts';

test('each field has what the API says of it, and an entry of a list is named by its place', () => {
  const refused = new InvalidRequestError('The given data was invalid.', {
    errors: {
      name: ['One.', 'Two.'],
      'allowed_ips.0': ['No address.'],
      'allowed_ips.2': ['No address.'],
      'limits.0.per_24h': ['Too small.'],
    },
  });
  expect(errorsOf(refused)).toEqual({
    name: 'One. Two.',
    allowed_ips: 'No address. (entry 1) No address. (entry 3)',
    'limits.0.per_24h': 'Too small.',
  });
});

test('an error that is about no field has no field', () => {
  expect(errorsOf(new ConnectionError('no answer'))).toEqual({});
  expect(errorsOf(new TypeError('broken'))).toEqual({});
});

test('the hint of the API is shown at the only field that is wrong', () => {
  const errorOf = (errors: Record<string, string[]>) =>
    new InvalidRequestError('invalid', { hint: 'The checksum is wrong.', errors });
  expect(errorsOf(errorOf({ address: ['It is invalid.'] }))).toEqual({
    address: 'It is invalid. The checksum is wrong.',
  });
  expect(errorsOf(errorOf({ address: ['It is invalid.'], amount: ['Small.'] }))).toEqual({
    address: 'It is invalid.',
    amount: 'Small.',
  });
});
