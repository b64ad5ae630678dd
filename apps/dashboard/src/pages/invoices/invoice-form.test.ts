import { expect, test } from '@jest/globals';
import { type InvoiceChoice, invoiceOf, problemsOf } from './invoice-form.ts';

const aChoice = (fields: Partial<InvoiceChoice> = {}): InvoiceChoice => ({
  amount: '25.00',
  currency: '',
  chooses: 'payer',
  asset: null,
  assets: [],
  description: '',
  external_id: '',
  expires_in: '',
  ...fields,
});

test('what is left empty is not in the request for an invoice', () => {
  expect(invoiceOf(aChoice())).toEqual({ assets: 'all', amount: '25.00' });
});

test('the request for an invoice has all that was chosen, and amounts stay texts', () => {
  const choice = aChoice({
    amount: ' 9007199254740993.01 ',
    currency: 'EUR',
    assets: ['ETH', 'BTC'],
    description: ' Two tickets ',
    external_id: 'order-1',
    expires_in: 30,
  });
  expect(invoiceOf(choice)).toEqual({
    assets: ['ETH', 'BTC'],
    amount: '9007199254740993.01',
    currency: 'EUR',
    description: 'Two tickets',
    external_id: 'order-1',
    expires_in: 30,
  });
  expect(invoiceOf({ ...choice, chooses: 'merchant', asset: 'SOL' })).toMatchObject({ asset: 'SOL' });
  expect(invoiceOf({ ...choice, chooses: 'merchant', asset: 'SOL' })).not.toHaveProperty('assets');
});

test('an amount that is none, and a missing asset, are told at their fields', () => {
  expect(problemsOf(aChoice())).toEqual({});
  for (const amount of ['', '1,5', '-1', '1e3', 'ten'])
    expect(problemsOf(aChoice({ amount }))).toHaveProperty('amount');
  expect(problemsOf(aChoice({ chooses: 'merchant' }))).toHaveProperty('asset');
});
