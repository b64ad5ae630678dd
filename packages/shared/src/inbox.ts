import { type Db, isUnstorable, type Queryable, statement, type Trx } from './db.ts';
import type { EventId } from './ids.ts';

// In one order: two replicas that are handed the same events in different ones would wait for each other.
const insertNew = statement(
  'inbox_insert',
  `with given as materialized (select distinct id from unnest($1::text[]) as given(id)),
   forgotten as materialized (
     select id from given where id < (select before_id from inbox_pruning)
       and not exists (select from inbox where event_id = id)
       and not exists (select from inbox_exceptions where event_id = id)),
   admitted as (delete from inbox_exceptions where event_id = any($1::text[])),
   fresh as (
     insert into inbox (event_id) select id from given where id not in (select id from forgotten) order by id
     on conflict do nothing returning event_id)
   select event_id, false as forgotten from fresh union all select id, true from forgotten`,
);

export type FirstTimes = {
  /** Those that come for the first time. */
  fresh: Set<EventId>;
  /** Those that may have come before: so old that the inbox may have forgotten them, and no sender said that it keeps them. */
  forgotten: Set<EventId>;
};

/** Which of these events come for the first time; recorded with the effect that follows in the same transaction. */
export async function firstTimes(trx: Trx, ids: readonly EventId[]): Promise<FirstTimes> {
  const rows = await trx.rows<{ event_id: EventId; forgotten: boolean }>(insertNew, [ids]);
  const { fresh = [], forgotten = [] } = Object.groupBy(rows, (row) =>
    row.forgotten ? 'forgotten' : 'fresh',
  );
  const idsOf = (some: typeof rows) => new Set(some.map((row) => row.event_id));
  return { fresh: idsOf(fresh), forgotten: idsOf(forgotten) };
}

// What the inbox may have forgotten counts as missing until it is parked: nobody confirms what was never taken in.
const selectMissing = statement(
  'inbox_missing',
  `select id from unnest($1::text[]) as asked(id)
   where not exists (select 1 from inbox where event_id = id)
     and not exists (select 1 from dead_letters where event_id = id)`,
);

/** Which of these events have neither been taken in nor parked. */
export async function missingFromInbox(db: Queryable, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(selectMissing, [ids])).map((row) => row.id);
}

const selectDeadLetters = statement(
  'inbox_dead_letters',
  `select event_id as id from dead_letters where event_id = any($1::text[])`,
);

/** Which of these events are dead letters here. */
export async function deadLettersOf(db: Queryable, ids: readonly string[]): Promise<string[]> {
  return (await db.rows<{ id: string }>(selectDeadLetters, [ids])).map((row) => row.id);
}

const insertDeadLetter = statement(
  'dead_letters_insert',
  `insert into dead_letters (event_id, kind, envelope, failure) values ($1, $2, $3, $4)
   on conflict (event_id) do update set failure = excluded.failure, failed_at = now()`,
);

/**
 * Stores what cannot be taken in as a dead letter, for an operator to look at and retry: the envelope as it came, or
 * `{"base64": …}` of its bytes when jsonb cannot hold it (no JSON, a NUL in it, too deep).
 */
export async function addDeadLetter(
  db: Db,
  id: string,
  kind: string,
  envelope: Uint8Array,
  failure: string,
): Promise<void> {
  const bytes = Buffer.from(envelope);
  // A parser's words quote what it read, and no text in Postgres can hold a NUL.
  const insert = (stored: string) =>
    db.rows(insertDeadLetter, [id, kind, stored, failure.replaceAll('\0', '')]);
  try {
    await insert(bytes.toString());
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await insert(JSON.stringify({ base64: bytes.toString('base64') }));
  }
}
