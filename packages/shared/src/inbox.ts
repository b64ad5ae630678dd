import { type Db, isUnstorable, type Queryable, statement, type Trx } from './db.ts';
import type { EventId } from './ids.ts';

// In one order: two replicas that receive the same events in different orders would deadlock.
const insertNew = statement(
  'inbox_insert',
  `with given as materialized (select distinct id from unnest($1::text[]) as given(id)),
   forgotten as materialized (
     select id from given where id < (select before_id from inbox_pruning)
       and not exists (select from inbox where event_id = id)
       and not exists (select from inbox_exceptions where event_id = id)),
   excepted as (delete from inbox_exceptions where event_id = any($1::text[])),
   fresh as (
     insert into inbox (event_id) select id from given where id not in (select id from forgotten) order by id
     on conflict do nothing returning event_id)
   select event_id, false as forgotten from fresh union all select id, true from forgotten`,
);

export type FirstTimes = {
  /** Events that arrive for the first time. */
  fresh: Set<EventId>;
  /** Events that may have been processed before: the inbox may have pruned their rows, and no sender has reported to keep them. */
  forgotten: Set<EventId>;
};

/** Which of these events arrive for the first time. Their inbox rows are written in the transaction of their effects. */
export async function firstTimes(trx: Trx, ids: readonly EventId[]): Promise<FirstTimes> {
  const rows = await trx.rows<{ event_id: EventId; forgotten: boolean }>(insertNew, [ids]);
  const { fresh = [], forgotten = [] } = Object.groupBy(rows, (row) =>
    row.forgotten ? 'forgotten' : 'fresh',
  );
  const idsOf = (some: typeof rows) => new Set(some.map((row) => row.event_id));
  return { fresh: idsOf(fresh), forgotten: idsOf(forgotten) };
}

// An event that the inbox may have pruned counts as missing until it is a dead letter, so that no event is confirmed unprocessed.
const selectMissing = statement(
  'inbox_missing',
  `select id from unnest($1::text[]) as asked(id)
   where not exists (select 1 from inbox where event_id = id)
     and not exists (select 1 from dead_letters where event_id = id)`,
);

/** Which of these events are neither processed nor dead letters. */
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
 * Stores an event that cannot be processed as a dead letter, for an operator to look at and retry: its envelope, or
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
  // A parser's message quotes what it read, and no text in Postgres can hold a NUL.
  const insert = (stored: string) =>
    db.rows(insertDeadLetter, [id, kind, stored, failure.replaceAll('\0', '')]);
  try {
    await insert(bytes.toString());
  } catch (error) {
    if (!isUnstorable(error)) throw error;
    await insert(JSON.stringify({ base64: bytes.toString('base64') }));
  }
}
