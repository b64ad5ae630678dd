import { expect, test } from '@jest/globals';
import type { VolumeDay } from '@quittance/client';
import { conversion, currenciesOf, dayOf, firstDay, totalsOf } from './volume-totals.ts';

const days = [
  { date: '2026-01-01', created: 0, paid: 0, currencies: [] },
  {
    date: '2026-01-02',
    created: 5,
    paid: 3,
    currencies: [
      { currency: 'EUR', created: 2, paid: 1, paid_amount: '0.10' },
      { currency: 'USD', created: 3, paid: 2, paid_amount: '9007199254740993.00' },
    ],
  },
  {
    date: '2026-01-03',
    created: 1,
    paid: 1,
    currencies: [{ currency: 'USD', created: 1, paid: 1, paid_amount: '0.20' }],
  },
] as VolumeDay[];

test('days are summed by currency, to the cent', () => {
  expect(totalsOf(days, 'USD')).toEqual({ created: 4, paid: 3, paidAmount: '9007199254740993.2' });
  expect(totalsOf(days, 'EUR')).toEqual({ created: 2, paid: 1, paidAmount: '0.1' });
  expect(totalsOf([], 'EUR')).toEqual({ created: 0, paid: 0, paidAmount: '0' });
});

test('a day without invoices of a currency has zeros', () => {
  expect(days.map((day) => dayOf(day, 'EUR').created)).toEqual([0, 2, 0]);
});

test('the currency with the most paid invoices comes first', () => {
  expect(currenciesOf(days)).toEqual(['USD', 'EUR']);
  expect(currenciesOf([])).toEqual([]);
});

test('conversion is the share of invoices that are paid', () => {
  expect(conversion({ created: 3, paid: 2 })).toBe(67);
  expect(conversion({ created: 0, paid: 0 })).toBeUndefined();
});

test('a range of days includes today, in UTC', () => {
  expect(firstDay(30, new Date('2026-03-01T00:30:00Z'))).toBe('2026-01-31');
  expect(firstDay(1, new Date('2026-03-01T23:30:00Z'))).toBe('2026-03-01');
});
