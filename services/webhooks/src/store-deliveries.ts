import { type Db, statement, type Trx } from '@quittance/shared/db';
import type { EndpointId } from '@quittance/shared/ids';
import type { LoggedEvent } from './domain/envelope.ts';
import type { Health } from './domain/health.ts';
import type { Numbered } from './store-events.ts';

/**
 * Lock order of this schema: accounts, then lanes, each sorted, then everything else. Only the claim takes lanes
 * out of order, and it waits for none.
 */

const insertForLanes = statement(
  'deliveries_insert',
  `with heard as materialized (
     select l.endpoint_key, e.account_id, e.kinds from lanes l join endpoints e on e.key = l.endpoint_key
     where e.account_id = any($1::text[]) order by l.endpoint_key for update of l),
   told as (
     insert into deliveries (endpoint_key, sequence, state, due_at)
     select heard.endpoint_key, g.sequence, 'waiting', $4
     from unnest($1::text[], $2::bigint[], $3::text[]) as g(account_id, sequence, kind)
     join heard on heard.account_id = g.account_id and g.kind = any(heard.kinds)
     returning endpoint_key)
   update lanes set due_at = least(due_at, $4)
   from (select distinct endpoint_key from told) as t
   where lanes.endpoint_key = t.endpoint_key`,
);

/** A delivery, due now, for each of the events and each live endpoint of its account that wants its kind. */
export async function insertDeliveries(trx: Trx, events: readonly Numbered[], now: Date): Promise<void> {
  await trx.rows(insertForLanes, [
    events.map((event) => event.accountId),
    events.map((event) => event.sequence),
    events.map((event) => event.kind),
    now,
  ]);
}

export type DueLane = {
  endpointKey: string;
  endpointId: EndpointId;
  url: string;
  failures: number;
  sealedSecrets: Buffer[];
};

const lockDue = statement(
  'lanes_lock_due',
  `select l.endpoint_key as "endpointKey", e.id as "endpointId", e.url, l.failures,
     array(select s.sealed from endpoint_secrets s
       where s.endpoint_key = l.endpoint_key and (s.ends_at is null or s.ends_at > $1)
       order by s.created_at desc) as "sealedSecrets"
   from lanes l join endpoints e on e.key = l.endpoint_key
   where l.due_at <= $1 and not l."full" order by l.due_at limit $2 for update of l skip locked`,
);

/** Locks lanes that have something due, those that have waited longest first, passing over what others hold. */
export const lockDueLanes = (trx: Trx, now: Date, limit: number): Promise<DueLane[]> =>
  trx.rows<DueLane>(lockDue, [now, limit]);

/** A delivery in the hands of this process until `claimedUntil`; `attempts` are those recorded before. */
export type Claimed = LoggedEvent & {
  endpointKey: string;
  attempts: number;
  dueAt: Date;
};

// A statement of its own after the locks: only a new snapshot shows what those who held them before have written.
const claimDue = statement(
  'deliveries_claim',
  `with lane as materialized (
     select g.endpoint_key, g.slots - (
       select count(*) from deliveries d where d.endpoint_key = g.endpoint_key and d.state = 'sending') as free, g.share
     from unnest($1::bigint[], $2::int[], $3::int[]) as g(endpoint_key, slots, share)),
   next as materialized (
     select lane.endpoint_key, least(lane.free, lane.share) as room, d.sequence, d.due_at,
       row_number() over (partition by lane.endpoint_key order by d.due_at, d.sequence) as place
     from lane cross join lateral (
       select sequence, due_at from deliveries
       where endpoint_key = lane.endpoint_key and state = 'waiting'
       order by due_at, sequence limit greatest(least(lane.free, lane.share), 0) + 1) as d),
   taken as (
     update deliveries d set state = 'sending', claim = $6, claimed_until = $5
     from next where d.endpoint_key = next.endpoint_key and d.sequence = next.sequence
       and next.place <= next.room and next.due_at <= $4
     returning d.endpoint_key, d.sequence, d.attempts, d.due_at),
   -- what is left and due goes to the end of the queue
   settled as (
     update lanes set "full" = after.full, due_at = after.due_at
     from (
       select lane.endpoint_key,
         lane.free <= count(next.sequence) filter (where next.place <= next.room and next.due_at <= $4) as full,
         min(greatest(next.due_at, $4)) filter (where not (next.place <= next.room and next.due_at <= $4)) as due_at
       from lane left join next on next.endpoint_key = lane.endpoint_key
       group by lane.endpoint_key, lane.free) as after
     where lanes.endpoint_key = after.endpoint_key)
   select taken.endpoint_key as "endpointKey", taken.attempts, taken.due_at as "dueAt",
     ev.id, ev.kind, ev.created_at as "createdAt", ev.sequence, ev.data::text as data
   from taken join endpoints e on e.key = taken.endpoint_key
   join events ev on ev.account_id = e.account_id and ev.sequence = taken.sequence
   order by taken.due_at, taken.sequence`,
);

export type Claim = { id: string; until: Date };

/** Takes from each locked lane up to its share of what is due, while its slots last, and says when to look again. */
export const claimFromLanes = (
  trx: Trx,
  lanes: readonly { endpointKey: string; slots: number; share: number }[],
  now: Date,
  claim: Claim,
): Promise<Claimed[]> =>
  trx.rows<Claimed>(claimDue, [
    lanes.map((lane) => lane.endpointKey),
    lanes.map((lane) => lane.slots),
    lanes.map((lane) => lane.share),
    now,
    claim.until,
    claim.id,
  ]);

const extend = statement(
  'deliveries_extend_claims',
  `update deliveries d set claimed_until = $4
   from unnest($1::bigint[], $2::bigint[], $3::uuid[]) as g(endpoint_key, sequence, claim)
   where d.endpoint_key = g.endpoint_key and d.sequence = g.sequence and d.state = 'sending' and d.claim = g.claim`,
);

export async function extendClaims(
  db: Db,
  deliveries: readonly { endpointKey: string; sequence: string; claim: string }[],
  until: Date,
): Promise<void> {
  await db.rows(extend, [
    deliveries.map((delivery) => delivery.endpointKey),
    deliveries.map((delivery) => delivery.sequence),
    deliveries.map((delivery) => delivery.claim),
    until,
  ]);
}

export type Lane = { endpointKey: string; full: boolean } & Health;

const lockByKey = statement(
  'lanes_lock',
  `select endpoint_key as "endpointKey", "full", failures, failing_since as "failingSince" from lanes
   where endpoint_key = any($1::bigint[]) order by endpoint_key for update`,
);

/** Locks the lanes of those of these endpoints that are live. */
export const lockLanes = (trx: Trx, keys: readonly string[]): Promise<Lane[]> =>
  trx.rows<Lane>(lockByKey, [keys]);

export type AttemptRecord = {
  endpointKey: string;
  sequence: string;
  claim: string;
  state: string;
  dueAt: Date | null;
  /** Whether it counts as an attempt and is logged. */
  counted: boolean;
  startedAt: Date;
  ms: number;
  status: number | null;
  failure: string | null;
  answer: string | null;
};

const endClaims = statement(
  'attempts_record',
  `with given as materialized (
     select * from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::timestamptz[], $6::bool[],
       $7::timestamptz[], $8::int[], $9::int[], $10::text[], $11::text[])
     as g(endpoint_key, sequence, claim, state, due_at, counted, started_at, ms, status, failure, answer)),
   ended as (
     update deliveries d set state = g.state, due_at = coalesce(g.due_at, d.due_at), claim = null,
       claimed_until = null, attempts = d.attempts + g.counted::int
     from given g where d.endpoint_key = g.endpoint_key and d.sequence = g.sequence
       and d.state = 'sending' and d.claim = g.claim
     returning d.endpoint_key, d.sequence, d.attempts),
   logged as (
     insert into attempts (endpoint_key, sequence, number, started_at, ms, status, failure, answer)
     select endpoint_key, sequence, ended.attempts, g.started_at, g.ms, g.status, g.failure, g.answer
     from ended join given g using (endpoint_key, sequence) where g.counted)
   select endpoint_key as "endpointKey", sequence from ended`,
);

/** Ends claims with what came of them; leaves out, and does not answer, those that have gone to another. */
export const recordEnds = (
  trx: Trx,
  records: readonly AttemptRecord[],
): Promise<{ endpointKey: string; sequence: string }[]> =>
  trx.rows<{ endpointKey: string; sequence: string }>(endClaims, [
    records.map((record) => record.endpointKey),
    records.map((record) => record.sequence),
    records.map((record) => record.claim),
    records.map((record) => record.state),
    records.map((record) => record.dueAt),
    records.map((record) => record.counted),
    records.map((record) => record.startedAt),
    records.map((record) => record.ms),
    records.map((record) => record.status),
    records.map((record) => record.failure),
    records.map((record) => record.answer),
  ]);

const settle = statement(
  'lanes_settle',
  `update lanes set "full" = false, due_at = least(lanes.due_at, g.due_at),
     failures = g.failures, failing_since = g.failing_since
   from unnest($1::bigint[], $2::timestamptz[], $3::int[], $4::timestamptz[])
     as g(endpoint_key, due_at, failures, failing_since)
   where lanes.endpoint_key = g.endpoint_key`,
);

export type SettledLane = { endpointKey: string; dueAt: Date | null } & Health;

/** Writes what attempts that ended mean for their locked lanes: a slot is free, something is due then. */
export async function settleLanes(trx: Trx, lanes: readonly SettledLane[]): Promise<void> {
  await trx.rows(settle, [
    lanes.map((lane) => lane.endpointKey),
    lanes.map((lane) => lane.dueAt),
    lanes.map((lane) => lane.failures),
    lanes.map((lane) => lane.failingSince),
  ]);
}

const selectOverdue = statement(
  'deliveries_overdue',
  `select distinct endpoint_key as "endpointKey" from deliveries where state = 'sending' and claimed_until <= $1`,
);

/** Endpoints that a dead process was sending to. */
export async function overdueEndpoints(db: Db, now: Date): Promise<string[]> {
  const rows = await db.rows<{ endpointKey: string }>(selectOverdue, [now]);
  return rows.map((row) => row.endpointKey);
}

const takeBack = statement(
  'deliveries_take_back',
  `with back as (
     update deliveries d set state = case when l.endpoint_key is null then 'cancelled' else 'waiting' end,
       due_at = $2, claim = null, claimed_until = null
     from unnest($1::bigint[]) as g(endpoint_key) left join lanes l using (endpoint_key)
     where d.endpoint_key = g.endpoint_key and d.state = 'sending' and d.claimed_until <= $2
     returning d.endpoint_key, d.sequence),
   woken as (
     update lanes set "full" = false, due_at = least(due_at, $2)
     where endpoint_key in (select endpoint_key from back))
   select endpoint_key as "endpointKey", sequence from back`,
);

/** Makes due again what a dead process was sending; the endpoints' lanes must be locked. */
export const takeBackOverdue = (
  trx: Trx,
  keys: readonly string[],
  now: Date,
): Promise<{ endpointKey: string; sequence: string }[]> =>
  trx.rows<{ endpointKey: string; sequence: string }>(takeBack, [keys, now]);
