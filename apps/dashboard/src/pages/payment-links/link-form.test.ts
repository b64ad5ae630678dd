import { expect, test } from '@jest/globals';
import { emptyLink, linkOf, linkProblems } from './link-form.ts';

test('a link with a price has no limits of what the payer types, and the other way round', () => {
  const both = {
    ...emptyLink,
    description: ' Coffee ',
    amount: '3.50',
    amount_min: '5',
    amount_max: ' 100 ',
  };
  expect(linkOf(both)).toEqual({ description: 'Coffee', amount: '3.50' });
  expect(linkOf({ ...both, price: 'open' })).toEqual({
    description: 'Coffee',
    amount_min: '5',
    amount_max: '100',
  });
});

test('the request for a link has all that was chosen', () => {
  const choice = {
    ...emptyLink,
    description: 'Coffee',
    amount: '6',
    currency: 'EUR',
    valid_days: 30,
    max_open: '500',
  };
  expect(linkOf({ ...choice, chooses: 'merchant', asset: 'SOL', assets: ['BTC'] })).toEqual({
    description: 'Coffee',
    amount: '6',
    currency: 'EUR',
    asset: 'SOL',
    valid_days: 30,
    max_open: 500,
  });
  expect(linkOf({ ...choice, assets: ['BTC'] })).toMatchObject({ assets: ['BTC'] });
});

test('what is missing or wrong is told at its field', () => {
  expect(Object.keys(linkProblems(emptyLink))).toEqual(['description', 'amount']);
  const open = { ...emptyLink, description: 'Coffee', price: 'open' } as const;
  expect(linkProblems(open)).toEqual({});
  expect(Object.keys(linkProblems({ ...open, amount_min: '1,5', amount_max: 'x' }))).toEqual([
    'amount_min',
    'amount_max',
  ]);
  expect(Object.keys(linkProblems({ ...open, amount_min: '10', amount_max: '9.99' }))).toEqual([
    'amount_max',
  ]);
});
