import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EventId } from '@quittance/shared/ids';
import type { LoggedEvent } from './domain/envelope.ts';

/** An event before its account's sequence has a number for it. */
export type NewEvent = {
  id: EventId;
  accountId: AccountId;
  kind: string;
  createdAt: string;
  resourceId: string;
  version: number;
  data: string;
};

export type Numbered = { accountId: AccountId; sequence: string; kind: string };

// The accounts' rows are locked in one order, and before anything else of theirs.
const numberAndInsert = statement(
  'events_insert',
  `with given as materialized (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::bigint[], $7::text[])
       with ordinality as g(id, account_id, kind, created_at, resource_id, version, data, place)),
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
   returning account_id as "accountId", sequence, kind`,
);

/** Gives each event its account's next number, in the order given, and stores it. */
export const insertEvents = (trx: Trx, events: readonly NewEvent[]): Promise<Numbered[]> =>
  trx.rows<Numbered>(numberAndInsert, [
    events.map((event) => event.id),
    events.map((event) => event.accountId),
    events.map((event) => event.kind),
    events.map((event) => event.createdAt),
    events.map((event) => event.resourceId),
    events.map((event) => event.version),
    events.map((event) => event.data),
  ]);

const columns = `id, kind, created_at as "createdAt", sequence, data::text as data`;

const selectOne = statement(
  'event_by_id',
  `select account_id as "accountId", ${columns} from events where id = $1`,
);

export const findEvent = (
  db: Queryable,
  id: string,
): Promise<(LoggedEvent & { accountId: AccountId }) | undefined> =>
  db.maybe<LoggedEvent & { accountId: AccountId }>(selectOne, [id]);

const selectAfter = statement(
  'events_after',
  `select ${columns} from events
   where account_id = $1 and sequence > $2 and ($3::text[] is null or kind = any($3)) order by sequence limit $4`,
);

export const eventsAfter = (
  db: Queryable,
  account: AccountId,
  after: number,
  kinds: readonly string[] | null,
  limit: number,
): Promise<LoggedEvent[]> => db.rows<LoggedEvent>(selectAfter, [account, after, kinds, limit]);

const selectLast = statement(
  'account_last_sequence',
  `select last_sequence as "lastSequence" from accounts where account_id = $1`,
);

/** The number of an account's latest event; "0" when there is none. */
export async function lastSequenceOf(db: Queryable, account: AccountId): Promise<string> {
  const row = await db.maybe<{ lastSequence: string }>(selectLast, [account]);
  return row?.lastSequence ?? '0';
}
