import { bulk, type Db, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EndpointId } from '@quittance/shared/ids';
import { wakeQueues } from './endpoint-queues.ts';
import type { NumberedEvent } from './events.ts';

const numberedEvents = bulk({ accountId: 'text', sequence: 'bigint', kind: 'text' });

const insertForQueues = statement(
  'deliveries_insert',
  `with queue as materialized (
     select q.endpoint_key, e.account_id, e.event_types from endpoint_queues q join endpoints e on e.key = q.endpoint_key
     where e.account_id = any($1::text[]) order by q.endpoint_key for update of q),
   inserted as (
     insert into deliveries (endpoint_key, sequence, state, due_at)
     select queue.endpoint_key, g.sequence, 'waiting', $4
     from ${numberedEvents.from('g')}
     join queue on queue.account_id = g.account_id and g.kind = any(queue.event_types)
     returning endpoint_key)
   update endpoint_queues q set new_due_at = greatest(least(q.new_due_at, $4), q.open_until)
   where q.endpoint_key in (select endpoint_key from inserted)`,
);

/** Queues a delivery, due now, for each event and each enabled endpoint of its account that is subscribed to it. */
export async function insertDeliveries(trx: Trx, events: readonly NumberedEvent[], now: Date): Promise<void> {
  await trx.rows(insertForQueues, [...numberedEvents.values(events), now]);
}

const attemptRows = bulk({
  endpointKey: 'bigint',
  sequence: 'bigint',
  claim: 'uuid',
  state: 'text',
  dueAt: 'timestamptz',
  /** Whether a new retry cycle starts with the next attempt. */
  startsNewCycle: 'bool',
  /** Whether it counts as an attempt and is logged. */
  counted: 'bool',
  startedAt: 'timestamptz',
  ms: 'int',
  status: 'int',
  failure: 'text',
  answer: 'text',
});
export type AttemptRow = Parameters<typeof attemptRows.values>[0][number];

const endClaims = query<{ place: number }>(
  'attempts_record',
  `with given as materialized (select * from ${attemptRows.numbered('g', 'place')}),
   ended as (
     update deliveries d set state = g.state, due_at = coalesce(g.due_at, d.due_at), claim = null,
       claimed_until = null, attempts = d.attempts + g.counted::int,
       cycle_start = case when g.starts_new_cycle then d.attempts + g.counted::int else d.cycle_start end
     from given g where d.endpoint_key = g.endpoint_key and d.sequence = g.sequence
       and d.state = 'sending' and d.claim = g.claim
     returning g.place, d.attempts),
   logged as (
     insert into attempts (endpoint_key, sequence, number, started_at, ms, status, failure, answer)
     select g.endpoint_key, g.sequence, ended.attempts, g.started_at, g.ms, g.status, g.failure, g.answer
     from ended join given g using (place) where g.counted)
   select place::int from ended`,
);

/**
 * Ends claims with their results. Leaves out claims that another process has taken over.
 * @returns the indexes of the ended ones
 */
export async function recordEnds(trx: Trx, records: readonly AttemptRow[]): Promise<ReadonlySet<number>> {
  const ended = await trx.rows(endClaims, attemptRows.values(records));
  return new Set(ended.map(({ place }) => place - 1));
}

type DeliveryKey = { endpointKey: string; sequence: string };

// Requeued and replayed deliveries count as retries. For the lock order see store/endpoint-queues.ts.

const requeue = statement(
  'delivery_requeue',
  `update deliveries set state = 'waiting', due_at = $3, cycle_start = attempts, manual = true
   where endpoint_key = $1 and sequence = $2 and state <> 'sending' returning 1`,
);

/** Makes one delivery due now, with a new retry cycle. Its queue must be locked. @returns false while it is being sent */
export async function requeueDelivery(
  trx: Trx,
  { endpointKey, sequence }: DeliveryKey,
  now: Date,
): Promise<boolean> {
  const requeued = await trx.rows(requeue, [endpointKey, sequence, now]);
  await wakeQueues(trx, [endpointKey], now);
  return requeued.length > 0;
}

const insertOne = statement(
  'delivery_insert',
  `insert into deliveries (endpoint_key, sequence, state, due_at) values ($1, $2, 'waiting', $3)`,
);

/** Queues an event for one endpoint, due now. Its queue must be locked. */
export async function insertDelivery(
  trx: Trx,
  { endpointKey, sequence }: DeliveryKey,
  now: Date,
): Promise<void> {
  await trx.rows(insertOne, [endpointKey, sequence, now]);
  await wakeQueues(trx, [endpointKey], now);
}

/** The events of an account in [from, to) to replay to an endpoint. */
export type Range = {
  endpoint: { key: string; id: EndpointId; accountId: AccountId };
  eventTypes: readonly string[];
  from: Date;
  to: Date;
  includeDelivered: boolean;
};

/** A test event belongs to the endpoint that was tested. */
const inRange = `account_id = $1 and created_at >= $2 and created_at < $3 and kind = any($4::text[])
       and (kind <> 'webhook.test' or resource_id = $5)`;
/** Whether a replay queues an event, by the state of its delivery. Null: it has none. */
const isQueued = `(state is null or state in ('cancelled', 'exhausted') or (state = 'delivered' and $7))`;
/** `$1` to `$7` of the statements about a range, in this order; their own values follow. */
const rangeValues = ({ endpoint, eventTypes, from, to, includeDelivered }: Range) => [
  endpoint.accountId,
  from,
  to,
  eventTypes,
  endpoint.id,
  endpoint.key,
  includeDelivered,
];

// The day never goes back: the clock of another replica may be ahead.
const replayedOn = (day: `$${number}`) => `case when replayed_on >= ${day}::date then replayed else 0 end`;

type CountedRange = { events: number; toQueue: number; replayed: number };
const countRange = query<CountedRange>(
  'events_in_range',
  `select count(*)::int as events, (count(*) filter (where ${isQueued}))::int as to_queue,
     coalesce((select ${replayedOn('$9')} from accounts where account_id = $1), 0) as replayed
   from (
     select d.state from (select sequence from events where ${inRange} limit $8) as found
     left join deliveries d on d.endpoint_key = $6 and d.sequence = found.sequence) as known`,
);

/**
 * How many events there are, how many a replay would queue, and how many the account's replays have queued on this day
 * (UTC). Counts at most `atMost` events.
 */
export const countEvents = (db: Db, range: Range, atMost: number, now: Date): Promise<CountedRange> =>
  db.one(countRange, [...rangeValues(range), atMost, dayOf(now)]);

const lockReplayed = query<{ replayed: number }>(
  'account_lock_replayed',
  `select ${replayedOn('$2')} as replayed from accounts where account_id = $1 for update`,
);

const dayOf = (now: Date): string => now.toISOString().slice(0, 10);

/** How many deliveries the account's replays have queued on this day. Locks the count until the transaction ends. */
export async function lockReplayedOn(trx: Trx, account: AccountId, now: Date): Promise<number> {
  return (await trx.maybe(lockReplayed, [account, dayOf(now)]))?.replayed ?? 0;
}

const addReplayed = statement(
  'account_add_replayed',
  `update accounts set replayed = ${replayedOn('$2')} + $3, replayed_on = greatest(replayed_on, $2::date) where account_id = $1`,
);

export async function countReplayed(trx: Trx, account: AccountId, now: Date, queued: number): Promise<void> {
  await trx.rows(addReplayed, [account, dayOf(now), queued]);
}

/** How many deliveries a replay queued, and how many it left as they were. */
export type Replayed = { queued: number; alreadyWaiting: number; alreadyDelivered: number };
/** The place of an event in the order of a replay. */
export type ReplayPosition = [createdAt: string, sequence: string];

/** A part of a replay. `next`: where the next part begins, null after the last. */
export type Chunk = Replayed & { next: ReplayPosition | null };

const replayNext = query<Chunk>(
  'deliveries_replay',
  `with chunk as materialized (
     select sequence, created_at from events
     where ${inRange} and (created_at, sequence) > ($8::timestamptz, $9::bigint)
     order by created_at, sequence limit $10),
   known as materialized (
     select chunk.sequence, d.state from chunk
     left join deliveries d on d.endpoint_key = $6 and d.sequence = chunk.sequence),
   queued as (
     insert into deliveries (endpoint_key, sequence, state, due_at, manual)
     select $6, sequence, 'waiting', $11, true from known
     where ${isQueued}
     on conflict (endpoint_key, sequence) do update
       set state = 'waiting', due_at = excluded.due_at, cycle_start = deliveries.attempts, manual = true
     returning sequence)
   select (select count(*) from queued)::int as queued,
     count(*) filter (where state in ('waiting', 'sending'))::int as already_waiting,
     count(*) filter (where state = 'delivered' and not $7)::int as already_delivered,
     case when count(*) = $10 then (
       select array[created_at::text, sequence::text] from chunk order by created_at desc, sequence desc limit 1)
       end as next
   from known`,
);

export const replayStart: ReplayPosition = ['-infinity', '0'];

/** Queues the next events of a range, at most `limit`; the endpoint's queue must be locked. */
export async function replayChunk(
  trx: Trx,
  range: Range,
  { after, limit }: { after: ReplayPosition; limit: number },
  now: Date,
): Promise<Chunk> {
  const chunk = await trx.one(replayNext, [...rangeValues(range), ...after, limit, now]);
  if (chunk.queued > 0) await wakeQueues(trx, [range.endpoint.key], now);
  return chunk;
}
