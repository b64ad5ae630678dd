import { bulk, type Db, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EndpointId } from '@quittance/shared/ids';
import type { Concurrency } from '../domain/circuit.ts';
import type { LoggedEvent } from '../domain/envelope.ts';
import type { EndpointQueue } from './endpoint-queues.ts';

export type DueQueue = Pick<
  EndpointQueue,
  'endpointKey' | 'hasSucceeded' | 'consecutiveFailures' | 'openUntil'
> & { isRetryDue: boolean };

const dueQueue = `endpoint_key, has_succeeded, open_until, consecutive_failures,
     coalesce(retry_due_at <= $1, false) as is_retry_due`;

// `endpoint_queues_healthy_due` has the same condition.
const lockHealthy = query<DueQueue>(
  'queues_lock_healthy',
  `select ${dueQueue} from endpoint_queues
   where new_due_at <= $1 and has_succeeded and consecutive_failures = 0 and open_until is null
     and not endpoint_key = any($3::bigint[])
   order by new_due_at limit $2 for update skip locked`,
);

const lockAny = query<DueQueue>(
  'queues_lock_due',
  `with new as materialized (
     select ${dueQueue} from endpoint_queues
     where new_due_at <= $1 order by new_due_at limit $2 for update skip locked),
   retry as materialized (
     select ${dueQueue} from endpoint_queues
     where retry_due_at <= $1 order by retry_due_at limit $2 for update skip locked)
   select * from new union select * from retry`,
);

/** Locks queues of healthy endpoints with a new delivery due, the longest waiting first. Skips locked rows. */
export const lockHealthyQueues = (
  trx: Trx,
  now: Date,
  limit: number,
  slowEndpoints: readonly string[],
): Promise<DueQueue[]> => trx.rows(lockHealthy, [now, limit, slowEndpoints]);

/** Locks queues with due deliveries: at most `limit` with new ones and as many with retries. Skips locked rows. */
export const lockDueQueues = (trx: Trx, now: Date, limit: number): Promise<DueQueue[]> =>
  trx.rows(lockAny, [now, limit]);

/** A delivery that this process has claimed. `attempts` counts those recorded before. */
export type ClaimedRow = LoggedEvent & {
  endpointKey: string;
  attempts: number;
  /** How many attempts there were when its retry cycle began. */
  cycleStart: number;
  retry: boolean;
};

/** Due deliveries, new or retries, in the order of their claim. */
const due = (kind: 'new' | 'retry') => `
       (select sequence, due_at, retry from deliveries
        where endpoint_key = q.endpoint_key and state = 'waiting' and retry = ${kind === 'retry'} and due_at <= $6
        order by due_at, sequence limit greatest(0, least(q.total - q.in_flight, q.${kind}_max - q.${kind}_in_flight)))`;

/** The queue's next due time after the claim; null without a free slot: the next attempt that ends wakes the queue. */
const nextDueAt = (kind: 'new' | 'retry') => `
       case when q.in_flight + c.new + c.retry >= greatest(q.total, 1)
         or q.${kind}_in_flight + c.${kind} >= greatest(q.${kind}_max, 1) then null
       else (select greatest(d.due_at, case when c.${kind} = 0 then q.${kind}_due_at else $6 end, q.open_until)
         from deliveries d
         where d.endpoint_key = q.endpoint_key and d.state = 'waiting' and d.retry = ${kind === 'retry'}
         order by d.due_at, d.sequence offset c.${kind} limit 1) end`;

const limitsOfQueues = bulk({
  endpointKey: 'bigint',
  total: 'int',
  newDeliveries: 'new_max int',
  retries: 'retry_max int',
});

// A separate statement after the locks: only a new snapshot shows what the former holders of the locks have written.
const claimDue = query<ClaimedRow>(
  'deliveries_claim',
  `with q as materialized (
     select g.*, open_until, new_due_at, retry_due_at, s.new_in_flight + s.retry_in_flight as in_flight,
       s.new_in_flight, s.retry_in_flight
     from ${limitsOfQueues.from('g')}
     join endpoint_queues using (endpoint_key)
     cross join lateral (
       select (count(*) filter (where not retry))::int as new_in_flight,
         (count(*) filter (where retry))::int as retry_in_flight
       from deliveries d where d.endpoint_key = g.endpoint_key and d.state = 'sending') as s),
   -- New deliveries before retries; with one slot, the one that has waited longest.
   candidate as materialized (
     select q.endpoint_key, d.*, case when d.retry then q.retry_due_at else q.new_due_at end as queue_due_at,
       q.total - q.in_flight as free, row_number() over (
       partition by q.endpoint_key order by d.retry and q.total > 1, d.due_at, d.sequence) as place
     from q cross join lateral (${due('new')}
       union all ${due('retry')}) as d),
   -- Every endpoint gets one before any gets two; those that have waited longest for their turn come first.
   chosen as materialized (
     select endpoint_key, sequence, retry from candidate where place <= free
     order by place, queue_due_at, due_at limit $5),
   claimed as (
     update deliveries d set state = 'sending', claim = $8, claimed_until = $7
     from chosen where d.endpoint_key = chosen.endpoint_key and d.sequence = chosen.sequence
     returning d.endpoint_key, d.sequence, d.attempts, d.cycle_start, d.retry, d.due_at),
   rescheduled as (
     update endpoint_queues set new_due_at = after.new_due_at,
       retry_due_at = case when $9 then after.retry_due_at else endpoint_queues.retry_due_at end
     from (
       select q.endpoint_key, ${nextDueAt('new')} as new_due_at, ${nextDueAt('retry')} as retry_due_at
       from q cross join lateral (
         select (count(*) filter (where not retry))::int as new, (count(*) filter (where retry))::int as retry
         from chosen where chosen.endpoint_key = q.endpoint_key) as c) as after
     where endpoint_queues.endpoint_key = after.endpoint_key)
   select claimed.endpoint_key, claimed.attempts, claimed.cycle_start as cycle_start, claimed.retry, ev.id, ev.kind,
     ev.created_at, ev.sequence, ev.version, ev.data::text as data
   from claimed join endpoints e on e.key = claimed.endpoint_key
   join events ev on ev.account_id = e.account_id and ev.sequence = claimed.sequence
   order by claimed.due_at, claimed.sequence`,
);

export type ClaimTerms = {
  now: Date;
  /** The id of the claim, which expires at `until`. */
  claim: string;
  until: Date;
  /** The limit of the whole claim. */
  most: number;
  /** False leaves retries and their due times as they are. */
  withRetries: boolean;
};

/** Claims due deliveries from locked queues while they have free slots, and sets the queues' next due times. */
export const claimFromQueues = (
  trx: Trx,
  limits: readonly ({ endpointKey: string } & Concurrency)[],
  { now, claim, until, most, withRetries }: ClaimTerms,
): Promise<ClaimedRow[]> =>
  trx.rows(claimDue, [
    ...limitsOfQueues.values(withRetries ? limits : limits.map((limit) => ({ ...limit, retries: 0 }))),
    ...[most, now, until, claim, withRetries],
  ]);

/** The current URL of an endpoint, and the secrets that its deliveries are signed with. */
export type StoredTarget = {
  endpointKey: string;
  endpointId: EndpointId;
  accountId: AccountId;
  url: string;
  /** Changes with each new URL and each time the endpoint is enabled. */
  generation: string;
  encryptedSecrets: Buffer[];
};

// A separate statement after the locks, for the same reason.
const selectTargets = query<StoredTarget>(
  'targets_of_queues',
  `select q.endpoint_key, e.id as endpoint_id, e.account_id, e.url, q.generation,
     array(select s.encrypted_secret from endpoint_secrets s
       where s.endpoint_key = q.endpoint_key and (s.ends_at is null or s.ends_at > $2)
       order by s.created_at desc) as encrypted_secrets
   from endpoint_queues q join endpoints e on e.key = q.endpoint_key where q.endpoint_key = any($1::bigint[])`,
);

/** The targets of locked queues. */
export const targetsOf = (trx: Trx, keys: readonly string[], now: Date): Promise<StoredTarget[]> =>
  trx.rows(selectTargets, [keys, now]);

const claims = bulk({ endpointKey: 'bigint', sequence: 'bigint', claim: 'uuid' });

// Skips rows that are being recorded: they need no renewal, and waiting for them could be a deadlock.
const extend = statement(
  'deliveries_extend_claims',
  `with held as materialized (
     select d.endpoint_key, d.sequence from deliveries d
     join ${claims.from('g')}
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
  await db.rows(extend, [...claims.values(deliveries), until]);
}

const selectOverdue = query<{ endpointKey: string }>(
  'deliveries_overdue',
  `select distinct endpoint_key from deliveries where state = 'sending' and claimed_until <= $1`,
);

/** Endpoints with an expired claim: its process died. */
export async function overdueEndpoints(db: Db, now: Date): Promise<string[]> {
  return (await db.rows(selectOverdue, [now])).map((row) => row.endpointKey);
}

// Without a queue the endpoint was disabled or deleted: its deliveries are cancelled.
const takeBack = statement(
  'deliveries_take_back',
  `update deliveries d set state = case when q.endpoint_key is null then 'cancelled' else 'waiting' end,
     due_at = $2, claim = null, claimed_until = null
   from unnest($1::bigint[]) as g(endpoint_key) left join endpoint_queues q using (endpoint_key)
   where d.endpoint_key = g.endpoint_key and d.state = 'sending' and d.claimed_until <= $2
   returning 1`,
);

/** Makes deliveries with expired claims due again. The endpoints' queues must be locked. @returns a row per delivery */
export const takeBackOverdue = (trx: Trx, keys: readonly string[], now: Date): Promise<object[]> =>
  trx.rows(takeBack, [keys, now]);
