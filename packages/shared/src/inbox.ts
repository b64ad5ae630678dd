import type { Bus } from './bus.ts';
import { type Clock, systemClock } from './clock.ts';
import { oldestAnswer, oldestQuestion, oldestSubject } from './commands.ts';
import { type Db, type Queryable, type Statement, statement, type Trx } from './db.ts';
import { isUnstorable } from './db-errors.ts';
import { events, kindsFor, type Service, sendersTo } from './events.ts';
import { type EventId, firstEventIdAt } from './ids.ts';

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
  const eventIds = (some: typeof rows) => new Set(some.map((row) => row.event_id));
  const forgotten = eventIds(rows.filter((row) => row.forgotten));
  return { fresh: eventIds(rows.filter((row) => !row.forgotten)), forgotten };
}

// An event that the inbox may have pruned counts as missing until it is a dead letter, so that no event is confirmed unprocessed.
const selectMissing = statement(
  'inbox_missing',
  `select id from unnest($1::text[]) as asked(id)
   where not exists (select 1 from inbox where event_id = id)
     and not exists (select 1 from dead_letters where event_id = id)`,
);

const selectDeadLetters = statement(
  'inbox_dead_letters',
  `select event_id as id from dead_letters where event_id = any($1::text[])`,
);

const idsOf = async (db: Queryable, sql: Statement, ids: readonly string[]): Promise<string[]> =>
  (await db.rows<{ id: string }>(sql, [ids])).map(({ id }) => id);

/** Which of these events are neither processed nor dead letters. */
export const missingFromInbox = (db: Queryable, ids: readonly string[]): Promise<string[]> =>
  idsOf(db, selectMissing, ids);

/** Which of these events are dead letters here. */
export const deadLettersOf = (db: Queryable, ids: readonly string[]): Promise<string[]> =>
  idsOf(db, selectDeadLetters, ids);

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

const BATCH = 500;
const ASK_TIMEOUT_MS = 5_000;
/** As long as a sender keeps an event that all receivers have: nothing younger is removed. */
const KEPT_AT_LEAST_MS = 30 * 24 * 3_600_000;

const prune = statement('inbox_prune', `select prune_inbox(${BATCH}) as pruned`);

// Once in half an hour: what is refused now is removed ten minutes later, and many replicas would postpone that forever.
const refuseBefore = statement(
  'inbox_refuse_before',
  `insert into inbox_pruning (before_id)
   select least($1, (select max(event_id) || '0' from inbox)) where exists (select from inbox)
   on conflict (is_only) do update set before_id = excluded.before_id, since = now()
   where inbox_pruning.before_id < excluded.before_id and inbox_pruning.since < now() - interval '30 minutes'`,
);

const selectOldest = statement(
  'outbox_oldest',
  `select id from outbox where kind = any($1::text[]) order by id limit 1`,
);

/**
 * Deletes inbox rows of events that cannot arrive again. A sender keeps an event, and may send it again, until 30 days after
 * all receivers have it, while one of them is down, and while it is a dead letter of one. So each sender is asked for its
 * oldest event, and nothing is deleted unless all have answered. Older events are refused first and their rows deleted in a
 * later step, see `firstTimes`.
 * @returns how many rows were deleted; 0 means wait.
 */
export async function pruneInboxStep(
  db: Db,
  bus: Bus,
  service: Service,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<number> {
  const { pruned } = await db.one<{ pruned: number }>(prune);
  if (pruned > 0 || !bus.connected()) return pruned;
  let before: string = firstEventIdAt(new Date(clock.now().getTime() - KEPT_AT_LEAST_MS));
  const kinds = kindsFor(service);
  for (const sender of sendersTo(service)) {
    const asked = await bus.request(oldestSubject(sender), { kinds }, oldestAnswer, ASK_TIMEOUT_MS);
    if (!asked.known) return 0;
    const { id } = asked.reply;
    if (id !== null && id < before) before = id;
  }
  await db.rows(refuseBefore, [before]);
  return 0;
}

/** Answers this service's receivers with the oldest event that it may still send them. */
export function answerPruning(bus: Bus, db: Db, service: Service): void {
  if (!Object.values(events).some(({ from }) => from === service)) return;
  bus.answer(oldestSubject(service), async (body) => {
    const { kinds } = oldestQuestion.parse(body);
    const oldest = await db.maybe<{ id: string }>(selectOldest, [kinds]);
    return { id: oldest?.id ?? null };
  });
}
