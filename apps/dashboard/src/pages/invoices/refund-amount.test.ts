import { expect, test } from '@jest/globals';
import type { PayableInvoice, Refund } from '@quittance/client';
import { isFiatAmount, refundable, shareOf, worthOf } from './refund-amount.ts';

const invoice = {
  status: 'paid',
  amount: '0.04',
  paid_amount: '0.05',
  refunded_amount: '0',
  rate: { currency: { usd_rate: '1.08' }, asset: { usd_rate: '2500' } },
  asset: { decimals: 18 },
} as PayableInvoice;

test('what is left of a paid invoice is what was paid less what refunds have taken', () => {
  expect(refundable(invoice, '0', [])).toEqual({ paid: '0.05', left: '0.05', surplus: '0.01' });
  expect(refundable({ ...invoice, refunded_amount: '0.045' }, '0', [])).toMatchObject({
    left: '0.005',
    surplus: '0.005',
  });
  expect(refundable({ ...invoice, refunded_amount: '0.06' }, '0', [])).toMatchObject({
    left: '0',
    surplus: '0',
  });
  expect(refundable({ ...invoice, paid_amount: '0.04' }, '0', [])).toMatchObject({ surplus: '0' });
});

test('what refunds of the surplus have taken of it is not offered as surplus again, unless they have ended without paying', () => {
  const refund = (requested: string, status: Refund['status'], share: string) => ({
    requested,
    status,
    share,
  });
  const surplus = (...refunds: ReturnType<typeof refund>[]) =>
    refundable({ ...invoice, refunded_amount: '0.01' }, '0', refunds).surplus;
  for (const status of ['claimable', 'pending', 'completed'] as const)
    expect(surplus(refund('surplus', status, '0.01'))).toBe('0');
  for (const status of ['failed', 'expired', 'cancelled'] as const)
    expect(surplus(refund('surplus', status, '0.01'))).toBe('0.01');
  expect(surplus(refund('surplus', 'completed', '0.004'), refund('surplus', 'pending', '0.005'))).toBe(
    '0.001',
  );
  expect(surplus(refund('25.00', 'completed', '0.01'))).toBe('0.01');
});

test('no surplus is offered while the refunds are not known', () => {
  expect(refundable(invoice, '0', undefined)).toEqual({ paid: '0.05', left: '0.05', surplus: '0' });
});

test('of an invoice that is not paid what was accepted can be refunded', () => {
  const partial = { ...invoice, status: 'partially_paid', paid_amount: '0.01' } as PayableInvoice;
  expect(refundable(partial, '0.01', [])).toEqual({ paid: '0.01', left: '0.01', surplus: '0' });
  expect(refundable(partial, '0', [])).toMatchObject({ left: '0' });
});

test('an amount of the currency is converted at the locked rates, and rounded down to the smallest unit', () => {
  expect(shareOf('25', invoice)).toBe('0.0108');
  expect(shareOf('0.01', { ...invoice, asset: { ...invoice.asset, decimals: 8 } })).toBe('0.00000432');
  expect(
    shareOf('1', {
      ...invoice,
      rate: { ...invoice.rate, asset: { ...invoice.rate.asset, usd_rate: '3' } },
      asset: { ...invoice.asset, decimals: 2 },
    }),
  ).toBe('0.36');
  expect(worthOf('0.0108', invoice)).toBe('25.00');
  expect(worthOf('0.00001', invoice)).toBe('0.02');
});

test('an amount of a currency is above zero and has two decimals at most', () => {
  for (const amount of ['1', '0.01', '25.5', '1000000000000']) expect(isFiatAmount(amount)).toBe(true);
  for (const other of ['', '0', '0.00', '1.005', '-1', '1e3', '1,5', ' 1', '.5'])
    expect(isFiatAmount(other)).toBe(false);
});
