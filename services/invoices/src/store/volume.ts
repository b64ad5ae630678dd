import type { Currency } from '@quittance/shared/currencies';
import { type Query, type Queryable, query } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { type Counted, daysLater } from '../domain/volume.ts';
import { lowestId } from './invoice-reads.ts';

/** What was counted of one day, which is named by its place in the list of days. */
type CountedOfDay = Counted & { place: number };

/**
 * Ids begin with their time, so that the invoices of a day are one range of an index that has the prices too. Before the choice of
 * its asset an invoice is in the other table, with the same id. Measured with 1,000,000 invoices of one account in a year: 1.4 s for all
 * of it, 90 ms for a month.
 */
const volumeQuery = (name: string, narrowed = ''): Query<CountedOfDay> => {
  const ofDay = `where account_id = $1 and id >= days.first and id < days.next ${narrowed}`;
  return query(
    name,
    `select (days.nth - 1)::int as place, found.*
     from unnest($2::text[], $3::text[]) with ordinality as days (first, next, nth)
     cross join lateral (
       select currency, count(*)::int as created, count(*) filter (where status = 'paid')::int as paid,
         coalesce(sum(amount_fiat) filter (where status = 'paid'), 0) as paid_amount
       from (select currency, status, amount_fiat from invoices ${ofDay}
             union all select currency, status, amount_fiat from unchosen_invoices ${ofDay}) as created
       group by currency) as found`,
  );
};

const selectAll = volumeQuery('volume');
const selectOfCurrency = volumeQuery('volume_of_currency', 'and currency = $4');

/** What was created on each of the days (their begins), and is paid by now. Days without invoices are left out. */
export function countedByDay(
  db: Queryable,
  account: AccountId,
  { days, currency }: { days: readonly Date[]; currency: Currency | null },
): Promise<CountedOfDay[]> {
  const idAt = (time: Date) => lowestId(time.getTime());
  const values = [account, days.map(idAt), days.map((day) => idAt(daysLater(day, 1)))];
  return currency === null ? db.rows(selectAll, values) : db.rows(selectOfCurrency, [...values, currency]);
}
