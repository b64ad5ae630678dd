import { expect, test } from '@jest/globals';
import { ConnectionError, InvalidRequestError } from '@quittance/client';
import { errorsOf, errorsOfLists } from './form-errors.ts';

const refused = new InvalidRequestError('The given data was invalid.', {
  errors: { name: ['One.', 'Two.'], 'allowed_ips.0': ['No address.'], 'allowed_ips.2': ['No address.'] },
});

test('each field has what the API says of it', () => {
  expect(errorsOf(refused)).toEqual({
    name: 'One. Two.',
    'allowed_ips.0': 'No address.',
    'allowed_ips.2': 'No address.',
  });
});

test('what is wrong with an item is shown at its list, with its place', () => {
  expect(errorsOfLists(refused)).toEqual({
    name: 'One. Two.',
    allowed_ips: 'No address. (entry 1) No address. (entry 3)',
  });
});

test('an error that is about no field has no field', () => {
  expect(errorsOf(new ConnectionError('no answer'))).toEqual({});
  expect(errorsOfLists(new TypeError('broken'))).toEqual({});
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
