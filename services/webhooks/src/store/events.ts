import { bulk, type Queryable, query, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { LoggedEvent } from '../domain/envelope.ts';

const newEvents = bulk({
  id: 'text',
  accountId: 'text',
  kind: 'text',
  createdAt: 'timestamptz',
  resourceId: 'text',
  version: 'bigint',
  data: 'text',
});
/** An event that has no sequence number yet. */
export type UnnumberedEvent = Parameters<typeof newEvents.values>[0][number];

export type NumberedEvent = { accountId: AccountId; sequence: string; kind: string };

// Locks the accounts' rows in order, before any other row of theirs.
const numberAndInsert = query<NumberedEvent>(
  'events_insert',
  `with given as materialized (select * from ${newEvents.numbered('g', 'place')}),
   advanced as (
     insert into accounts as a (account_id, last_sequence)
     select account_id, count(*) from given group by account_id order by account_id
     on conflict (account_id) do update set last_sequence = a.last_sequence + excluded.last_sequence
     returning account_id, last_sequence)
   insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
   select account_id,
     last_sequence - count(*) over (partition by account_id)
       + row_number() over (partition by account_id order by place),
     id, kind, created_at, resource_id, version, data::json
   from given join advanced using (account_id)
   returning account_id, sequence, kind`,
);

/** Stores events with their accounts' next sequence numbers, in the given order. */
export const insertEvents = (trx: Trx, events: readonly UnnumberedEvent[]): Promise<NumberedEvent[]> =>
  trx.rows(numberAndInsert, newEvents.values(events));

/** Larger than every sequence number. */
export const SEQUENCE_MAX = '9223372036854775807';

const columns = `id, kind, created_at, sequence, version, data::text as data`;

type FoundEvent = LoggedEvent & { accountId: AccountId };
const selectOne = query<FoundEvent>('event_by_id', `select account_id, ${columns} from events where id = $1`);

export const findEvent = (db: Queryable, id: string): Promise<FoundEvent | undefined> =>
  db.maybe(selectOne, [id]);

export type EventsQuery = {
  after: number;
  eventTypes: readonly string[] | null;
  /** Only events that happened at `from` or later, and before `to`. */
  from: Date | null;
  to: Date | null;
  limit: number;
};

/** Events in order, and the oldest sequence number of their account, read in the same snapshot. */
export type EventPage = { firstSequence: string; events: LoggedEvent[] };

/** Without events there is one row, with the oldest sequence number only. */
type EventPageRow = { firstSequence: string } & (LoggedEvent | { [field in keyof LoggedEvent]: null });

const pageOf = (rows: readonly EventPageRow[]): EventPage => ({
  firstSequence: rows[0]?.firstSequence ?? '1',
  events: rows.flatMap(({ firstSequence: _, ...event }) => (event.id === null ? [] : [event])),
});

/** The oldest sequence number in the log of `account`; see `EventPage`. */
const firstKept = (account: string) =>
  `coalesce((select pruned_through + 1 from accounts where account_id = ${account}), 1) as first_sequence`;

// It has no name, so that Postgres plans it for the given dates: a short span is read by time, a long one by sequence.
const selectInSpan = query<EventPageRow>(
  '',
  `
  with kept as materialized (select ${firstKept('$1')})
  select kept.*, e.* from kept left join lateral (
    select ${columns} from events
    where account_id = $1 and sequence > $2 and ($3::text[] is null or kind = any($3))
      and created_at >= coalesce($5, '-infinity'::timestamptz) and created_at < coalesce($6, 'infinity'::timestamptz)
    order by sequence limit $4) as e on true
  order by e.sequence`,
);

export async function eventsAfter(
  db: Queryable,
  account: AccountId,
  { after, eventTypes, from, to, limit }: EventsQuery,
): Promise<EventPage> {
  if (from !== null || to !== null)
    return pageOf(await db.rows(selectInSpan, [account, after, eventTypes, limit, from, to]));
  const [page] = await eventsForFollowers(db, [{ account, after: String(after), eventTypes }], limit);
  return page ?? pageOf([]);
}

const selectLastSequences = query<{ accountId: AccountId; lastSequence: string }>(
  'account_last_sequences',
  `select account_id, last_sequence from accounts where account_id = any($1::text[])`,
);

/** The last sequence number of each account's log. An account without events has none. */
export async function lastSequencesOf(
  db: Queryable,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, string>> {
  const rows = await db.rows(selectLastSequences, [accounts]);
  return new Map(rows.map(({ accountId, lastSequence }) => [accountId, lastSequence]));
}

/** The last sequence number of an account's log, "0" before its first event. */
export const lastSequenceOf = async (db: Queryable, account: AccountId): Promise<string> =>
  (await lastSequencesOf(db, [account])).get(account) ?? '0';

/** A client that reads an account's log and has all events up to `after`. */
export type Follower = { account: AccountId; after: string; eventTypes: readonly string[] | null };

// Each event type is read through its own index, so that a rare one is found without reading the whole log. The row
// comparison has the order of the index, so that Postgres uses it.
const followers = bulk({ account: 'text', after: 'bigint', eventTypes: 'text' });

const selectForFollowers = query<EventPageRow & { place: number }>(
  'events_for_followers',
  `with f as materialized (
     select *, ${firstKept('account')}
     from ${followers.numbered('g', 'place')})
   select f.place::int as place, f.first_sequence, e.*
   from f left join lateral (
     (select ${columns} from events
      where f.event_types is null and account_id = f.account and sequence > f.after order by sequence limit $4)
     union all
     (select ${columns} from (
        select found.sequence as next
        from (select distinct kind from unnest(string_to_array(f.event_types, ',')) as kind) as wanted
        cross join lateral (
          select sequence from events
          where (account_id, kind, sequence) > (f.account, wanted.kind, f.after)
            and (account_id, kind, sequence) <= (f.account, wanted.kind, ${SEQUENCE_MAX})
          order by account_id, kind, sequence limit $4) as found
        order by next limit $4) as nearest
      join events on account_id = f.account and sequence = next)) as e on true
   order by f.place, e.sequence`,
);

/** The next events of each follower, at most `limit` each, in the order of the followers. */
export async function eventsForFollowers(
  db: Queryable,
  given: readonly Follower[],
  limit: number,
): Promise<EventPage[]> {
  const listed = given.map((one) => ({ ...one, eventTypes: one.eventTypes?.join(',') ?? null }));
  const rows = await db.rows(selectForFollowers, [...followers.values(listed), limit]);
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return given.map((_, i) => pageOf(byPlace.get(i + 1) ?? []));
}
