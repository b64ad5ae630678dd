import type { VolumeDay } from '@quittance/client';
import { sum } from '../../parts/decimal.ts';

/** What days come to, and the days of one currency as a chart draws them. */
export type VolumeTotals = { created: number; paid: number; paidAmount: string };

/** The currencies that days have, the one with the most paid invoices first. */
export function currenciesOf(days: readonly VolumeDay[]): string[] {
  const paid = new Map<string, number>();
  for (const { currencies } of days)
    for (const { currency, paid: count } of currencies) paid.set(currency, (paid.get(currency) ?? 0) + count);
  return [...paid].toSorted(([, a], [, b]) => b - a).map(([currency]) => currency);
}

/** A day of one currency. One without invoices has zeros. */
export function dayOf({ currencies }: VolumeDay, currency: string): VolumeTotals {
  const found = currencies.find((one) => one.currency === currency);
  return { created: found?.created ?? 0, paid: found?.paid ?? 0, paidAmount: found?.paid_amount ?? '0' };
}

export function totalsOf(days: readonly VolumeDay[], currency: string): VolumeTotals {
  const all = days.map((day) => dayOf(day, currency));
  return {
    created: all.reduce((total, { created }) => total + created, 0),
    paid: all.reduce((total, { paid }) => total + paid, 0),
    paidAmount: sum(all.map(({ paidAmount }) => paidAmount)),
  };
}

/** How many of 100 invoices are paid, rounded to a whole number. Undefined where there are none. */
export const conversion = ({ created, paid }: Pick<VolumeTotals, 'created' | 'paid'>): number | undefined =>
  created === 0 ? undefined : Math.round((paid * 100) / created);

/** The first of so many days (UTC) that end with today. */
export const firstDay = (days: number, now: Date): string =>
  new Date(now.getTime() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
