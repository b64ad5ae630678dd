import { expect, test } from '@jest/globals';
import { cents } from '@quittance/shared/money';
import { DAYS_DEFAULT, DAYS_MAX, dayOf, daysBetween, daysLater, volumeOf } from './volume.ts';

const at = (text: string) => new Date(text);

test('days are those of UTC, over the ends of months and leap days', () => {
  expect(dayOf(at('2026-03-01T00:00:00.000Z'))).toEqual(at('2026-03-01'));
  expect(dayOf(at('2026-03-01T23:59:59.999Z'))).toEqual(at('2026-03-01'));
  const days = daysBetween(at('2028-02-28'), at('2028-03-01')).map((day) => day.toISOString().slice(0, 10));
  expect(days).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
  expect(daysBetween(at('2026-01-01'), at('2026-01-01'))).toHaveLength(1);
  expect(daysBetween(at('2026-01-02'), at('2026-01-01'))).toEqual([]);
});

test('a request may have all days of a leap year, and without a beginning has those of a month of thirty', () => {
  expect(daysBetween(at('2028-01-01'), at('2028-12-31'))).toHaveLength(DAYS_MAX);
  expect(daysLater(at('2026-04-30'), 1 - DAYS_DEFAULT)).toEqual(at('2026-04-01'));
});

test('a day without invoices is there, and the currencies of a day are added up as counts alone', () => {
  const days = daysBetween(at('2026-01-01'), at('2026-01-02'));
  const eur = { currency: 'EUR', created: 2, paid: 1, paidAmount: cents(10n ** 20n + 1n) } as const;
  const usd = { currency: 'USD', created: 3, paid: 3, paidAmount: cents(75n) } as const;
  expect(
    volumeOf(days, [
      { ...eur, place: 1 },
      { ...usd, place: 1 },
    ]),
  ).toEqual([
    { day: days[0], created: 0, paid: 0, currencies: [] },
    {
      day: days[1],
      created: 5,
      paid: 4,
      currencies: [expect.objectContaining(usd), expect.objectContaining(eur)],
    },
  ]);
});
