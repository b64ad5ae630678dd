import { expect, test } from '@jest/globals';
import { firstReturn, receivedOf, returnOf, returnProblems } from './return-form.ts';

test('all that is left is returned without naming an amount', () => {
  expect(returnOf({ ...firstReturn, amount: '5' })).toEqual({ claim: true, expires_in_days: 30 });
  expect(returnOf({ ...firstReturn, to: 'address', address: ' 0xabc ', external_id: ' r-1 ' })).toEqual({
    address: '0xabc',
    external_id: 'r-1',
  });
});

test('a part is returned as it was typed', () => {
  expect(returnOf({ ...firstReturn, kind: 'other', amount: ' 0.000000000000000001 ' })).toMatchObject({
    amount: '0.000000000000000001',
  });
});

test('more than is left, nothing, and a missing address are told at their fields', () => {
  const part = { ...firstReturn, kind: 'other' } as const;
  expect(returnProblems({ ...part, amount: '0.5' }, '0.5')).toEqual({});
  expect(returnProblems({ ...part, amount: '0.500000000000000001' }, '0.5')).toHaveProperty('amount');
  for (const amount of ['', '0', '0.0', '1,5', '-1'])
    expect(returnProblems({ ...part, amount }, '2')).toHaveProperty('amount');
  expect(returnProblems({ ...firstReturn, to: 'address' }, '1')).toHaveProperty('address');
});

test('the recipient gets what is left of the fee', () => {
  expect(receivedOf('10', '0.25')).toBe('9.75');
  expect(receivedOf('0.25', '0.25')).toBeUndefined();
});
