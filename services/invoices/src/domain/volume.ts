import { type Currency, currencyCodes } from '@quittance/shared/currencies';
import type { Cents } from '@quittance/shared/money';

/** Days that one request may ask for: all of a leap year. */
export const DAYS_MAX = 366;
/** Days that are shown where a request names no beginning. */
export const DAYS_DEFAULT = 30;

const DAY_MS = 86_400_000;

/** The begin (UTC) of the day that a moment lies in. */
export const dayOf = (moment: Date): Date => new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);

/** The begin of another day. */
export const daysLater = (day: Date, days: number): Date => new Date(day.getTime() + days * DAY_MS);

/** The begins of all days from one to another, both included; none when the first is later. */
export function daysBetween(first: Date, last: Date): Date[] {
  const count = Math.round((last.getTime() - first.getTime()) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, n) => daysLater(first, n));
}

/** What was created and paid in one currency. */
export type Counted = {
  currency: Currency;
  created: number;
  /** How many of those that were created are paid. */
  paid: number;
  /** The sum of their prices. */
  paidAmount: Cents;
};

/** The invoices that were created on one day. Without any it has no currency. */
export type Day = { day: Date; created: number; paid: number; currencies: Counted[] };

/** All days with what was counted of each, by its place in the list of days. Currencies come in the order in which they are documented. */
export function volumeOf(days: readonly Date[], counted: readonly (Counted & { place: number })[]): Day[] {
  const byPlace = Map.groupBy(counted, ({ place }) => place);
  return days.map((day, place) => {
    const ofDay = byPlace.get(place) ?? [];
    const currencies = currencyCodes.flatMap((code) => ofDay.filter(({ currency }) => currency === code));
    const sum = (what: 'created' | 'paid') => currencies.reduce((all, one) => all + one[what], 0);
    return { day, created: sum('created'), paid: sum('paid'), currencies };
  });
}
