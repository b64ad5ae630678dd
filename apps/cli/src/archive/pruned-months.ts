import type pg from 'pg';
import { CommandError } from '../surroundings.ts';

/** A month (UTC) of which pruned events wait to be archived. */
export type PrunedMonth = {
  /** Such as `2026-08`. */
  month: string;
  /** How many of its events wait. */
  events: number;
  /** How many of its events are not pruned yet. */
  inLog: number;
  /** How many of those are still to be delivered. */
  toDeliver: number;
};

const SELECT_MONTHS = `
  select to_char(m.month, 'YYYY-MM') as month, m.events, l.in_log as "inLog", l.to_deliver as "toDeliver"
  from (select month, count(*)::int as events from webhooks.pruned_events group by month) m
  cross join lateral (
    select count(*)::int as in_log, (count(*) filter (where exists (
        select from webhooks.deliveries d join webhooks.endpoints p on p.key = d.endpoint_key
        where p.account_id = e.account_id and d.sequence = e.sequence and d.state in ('waiting', 'sending'))))::int as to_deliver
    from webhooks.accounts a join webhooks.events e on e.account_id = a.account_id
      and e.created_at >= m.month::timestamp at time zone 'UTC'
      and e.created_at < (m.month + interval '1 month') at time zone 'UTC') l
  order by m.month`;

/** The months of which pruned events wait, the oldest first. */
export async function prunedMonths(client: pg.Client): Promise<PrunedMonth[]> {
  return (await client.query<PrunedMonth>(SELECT_MONTHS)).rows;
}

/** The partition in which a month is: one for each month of the year. */
const partitionOf = (month: string): string => `webhooks.pruned_events_${month.slice(-2)}`;

/** Copies the lines of a month as they are: no character that the format gives a meaning is in a JSON text. */
export const copyOf = (month: string): string =>
  `copy (select line from ${partitionOf(month)} where month = '${month}-01' order by account_id, sequence)
   to stdout with (format csv, quote e'\\x01', delimiter e'\\x02', encoding 'UTF8')`;

/**
 * Removes a month, in the transaction of the caller. Between two runs rows are only added, so as many rows as were written are the
 * rows that were written.
 */
export async function removeMonth(client: pg.Client, month: string, written: number): Promise<void> {
  const partition = partitionOf(month);
  await client.query(`lock table ${partition} in access exclusive mode`);
  const { rows } = await client.query<{ events: number; others: boolean }>(
    `select (count(*) filter (where month = $1::date))::int as events, coalesce(bool_or(month <> $1::date), false) as others
     from ${partition}`,
    [`${month}-01`],
  );
  const [found] = rows;
  if (found?.events !== written)
    throw new CommandError(
      `While ${month} was written, ${found?.events ?? 0} instead of ${written} events were there: nothing of it was removed. Run the command again.`,
    );
  // The same month of another year is in it only when nobody archived for a year.
  if (found.others) await client.query(`delete from ${partition} where month = $1::date`, [`${month}-01`]);
  else await client.query(`truncate ${partition}`);
}
