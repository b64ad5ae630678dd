import { type Db, statement, type Trx } from '@quittance/shared/db';
import type { LoggedEvent } from './domain/envelope.ts';
import { lookedAtFrom } from './store-lanes.ts';

export type DueLane = {
  endpointKey: string;
  failures: number;
  proven: boolean;
  /** It had asked to be left alone, and nothing has arrived since. */
  probing: boolean;
  /** Whether its first attempts are prompt: it took the last that it was sent, and answers quickly. */
  prompt: boolean;
  /** Whether a retry is due, as far as the lane knows. */
  retriesDue: boolean;
};

// Each kind of lane by an index of its own. One that has just left it for another kind is left for the next claim.
// What is answered is what was locked: read again from the table, it would be what was there before.
const standing = 'endpoint_key, due_at, retry_due_at, retries_full, failures, proven, paused_until';
const lockDue = statement(
  'lanes_lock_due',
  `with prompt as materialized (
     select ${standing} from lanes
     where due_at <= $1 and not "full" and proven and failures = 0 and not endpoint_key = any($4::bigint[])
     order by due_at limit $2 for update skip locked),
   slow as materialized (
     select ${standing} from lanes
     where endpoint_key = any($4::bigint[]) and due_at <= $1 and not "full" and proven and failures = 0
     order by due_at limit $3 for update skip locked),
   fresh as materialized (
     select ${standing} from lanes
     where due_at <= $1 and not "full" and not proven and failures = 0
     order by due_at limit $3 for update skip locked),
   failing as materialized (
     select ${standing} from lanes
     where due_at <= $1 and not "full" and failures > 0
     order by due_at limit $3 for update skip locked),
   again as materialized (
     select ${standing} from lanes
     where retry_due_at <= $1 and not "full" and not retries_full
     order by retry_due_at limit $3 for update skip locked),
   locked as (
     select * from prompt union select * from slow union select * from fresh union select * from failing
     union select * from again)
   select endpoint_key as "endpointKey", failures, proven, paused_until is not null as probing,
     proven and failures = 0 and not endpoint_key = any($4::bigint[]) as prompt,
     retry_due_at is not null and retry_due_at <= $1 and not retries_full as "retriesDue"
   from locked
   -- where there is little room, who has not failed yet before who has
   order by failures > 0, least(due_at, retry_due_at)`,
);

/**
 * Locks lanes that have something due, those that have waited longest first, passing over what others hold.
 * @param limits how many of those that are prompt, and of the others and of those with retries
 * @param slow endpoints that are known not to answer at this moment
 */
export const lockDueLanes = (
  trx: Trx,
  now: Date,
  limits: { prompt: number; doubtful: number },
  slow: readonly string[],
): Promise<DueLane[]> => trx.rows<DueLane>(lockDue, [now, limits.prompt, limits.doubtful, slow]);

/** A delivery in the hands of this process while its claim lasts; `attempts` are those recorded before. */
export type Claimed = LoggedEvent & {
  endpointKey: string;
  attempts: number;
  /** How many attempts there were when its schedule began, for the first time or anew. */
  roundStart: number;
  retry: boolean;
};

// A statement of its own after the locks: only a new snapshot shows what those who held them before have written.
const claimDue = statement(
  'deliveries_claim',
  `with lane as materialized (
     select g.*, s.sending, s.retrying, greatest(1, g.slots / 4) as quarter
     from unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::int[])
       as g(endpoint_key, slots, news_max, retries_max, all_max)
     cross join lateral (
       select count(*)::int as sending, (count(*) filter (where retry))::int as retrying from deliveries d
       where d.endpoint_key = g.endpoint_key and d.state = 'sending') as s),
   -- from each of the two kinds as many as could be taken, and one more that says when to look again
   next as materialized (
     select lane.endpoint_key, d.*,
       row_number() over (partition by lane.endpoint_key, d.retry order by d.due_at, d.sequence) as place
     from lane cross join lateral (
       (select sequence, due_at, retry from deliveries
        where endpoint_key = lane.endpoint_key and state = 'waiting' and retry = false
        order by due_at, sequence limit greatest(0, least(lane.slots - lane.sending, lane.news_max)) + 1)
       union all
       (select sequence, due_at, retry from deliveries
        where endpoint_key = lane.endpoint_key and state = 'waiting' and retry = true
        order by due_at, sequence limit greatest(0, least(lane.slots - lane.sending, lane.retries_max)) + 1)) as d),
   -- a quarter of the slots is kept for retries while some are due, by this claim or one beside it; the others for what
   -- is new while some of it is
   allotted as materialized (
     select lane.*, case when n.news then quarter else greatest(1, slots - quarter) end as retries_most,
       case when n.retries and $9 then greatest(1, slots - quarter) else slots end
         - (sending - retrying) as news_room
     from lane left join (
       select endpoint_key, bool_or(not retry and due_at <= $6) as news, bool_or(retry and due_at <= $6) as retries
       from next group by endpoint_key) as n using (endpoint_key)),
   chosen as materialized (
     select endpoint_key, sequence, retry from (
       select next.endpoint_key, next.sequence, next.retry, a.slots - a.sending as free, a.all_max,
         row_number() over (partition by next.endpoint_key order by next.due_at, next.sequence) as turn
       from next join allotted a using (endpoint_key)
       where next.due_at <= $6 and next.place <=
         case when next.retry then least(a.retries_max, a.retries_most - a.retrying)
           else least(a.news_max, a.news_room) end) as fitting
     where turn <= least(free, all_max)),
   taken as (
     update deliveries d set state = 'sending', claim = $8, claimed_until = $7
     from chosen where d.endpoint_key = chosen.endpoint_key and d.sequence = chosen.sequence
     returning d.endpoint_key, d.sequence, d.attempts, d.round_start, d.retry, d.due_at),
   -- what is left and due goes to the end of the queue
   settled as (
     update lanes set "full" = after.full, retries_full = after.retries_full,
       due_at = after.due_at, retry_due_at = after.retry_due_at
     from (
       select a.endpoint_key, a.slots - a.sending <= count(chosen.sequence) as full,
         a.retries_most - a.retrying <= count(chosen.sequence) filter (where chosen.retry) as retries_full,
         min(greatest(next.due_at, $6)) filter (where not next.retry and chosen.sequence is null) as due_at,
         -- a claim that takes no retries leaves them their place among those of other lanes
         min(case when a.retries_max > 0 then greatest(next.due_at, $6) else next.due_at end)
           filter (where next.retry and chosen.sequence is null) as retry_due_at
       from allotted a left join next using (endpoint_key)
         left join chosen on chosen.endpoint_key = next.endpoint_key and chosen.sequence = next.sequence
       group by a.endpoint_key, a.slots, a.sending, a.retries_most, a.retrying, a.retries_max) as after
     where lanes.endpoint_key = after.endpoint_key)
   select taken.endpoint_key as "endpointKey", taken.attempts, taken.round_start as "roundStart", taken.retry,
     ev.id, ev.kind, ev.created_at as "createdAt", ev.sequence, ev.version, ev.data::text as data
   from taken join endpoints e on e.key = taken.endpoint_key
   join events ev on ev.account_id = e.account_id and ev.sequence = taken.sequence
   order by taken.due_at, taken.sequence`,
);

export type Claim = { id: string; until: Date };

/** What may be taken from a lane now. */
export type Share = { endpointKey: string; slots: number; news: number; retries: number; all: number };

/**
 * Takes from each locked lane up to its share of what is due, while its slots last, and says when to look again.
 * @param retriesToo whether retries can be begun, by this claim or another: slots are kept for them only then
 */
export const claimFromLanes = (
  trx: Trx,
  shares: readonly Share[],
  now: Date,
  claim: Claim,
  retriesToo: boolean,
): Promise<Claimed[]> =>
  trx.rows<Claimed>(claimDue, [
    shares.map((share) => share.endpointKey),
    shares.map((share) => share.slots),
    shares.map((share) => share.news),
    shares.map((share) => share.retries),
    shares.map((share) => share.all),
    now,
    claim.until,
    claim.id,
    retriesToo,
  ]);

// Those that are being recorded at this moment need it no more; to wait for them could be to wait for each other.
const extend = statement(
  'deliveries_extend_claims',
  `with held as materialized (
     select d.endpoint_key, d.sequence from deliveries d
     join unnest($1::bigint[], $2::bigint[], $3::uuid[]) as g(endpoint_key, sequence, claim)
       on d.endpoint_key = g.endpoint_key and d.sequence = g.sequence and d.claim = g.claim
     where d.state = 'sending' for update of d skip locked)
   update deliveries d set claimed_until = $4 from held
   where d.endpoint_key = held.endpoint_key and d.sequence = held.sequence`,
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
     update lanes set "full" = false, retries_full = false, ${lookedAtFrom('due_at', '$2')},
       ${lookedAtFrom('retry_due_at', '$2')}
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
