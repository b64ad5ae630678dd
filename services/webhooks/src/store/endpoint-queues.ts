import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { QueueHealth } from '../domain/circuit.ts';

/**
 * Every enabled endpoint has a queue: a row with the time of its next due delivery and the endpoint's health. Every change
 * of its waiting deliveries holds the row's lock.
 *
 * Lock order of this schema: accounts, then queues, each sorted, then everything else. Only the claim locks queues in
 * another order, and it skips locked ones.
 */
export type EndpointQueue = { endpointKey: string; generation: string } & QueueHealth;

const health = bulk({
  endpointKey: 'bigint',
  hasSucceeded: 'bool',
  consecutiveFailures: 'int',
  failingSince: 'timestamptz',
  lastFailedAt: 'timestamptz',
  openUntil: 'timestamptz',
  missedSince: 'timestamptz',
});

const lockByKey = query<EndpointQueue>(
  'queues_lock',
  `select generation, ${health.columns}
   from endpoint_queues where endpoint_key = any($1::bigint[]) order by endpoint_key for update`,
);

/** Locks the queues of these endpoints. Disabled and deleted ones have none. */
export const lockQueues = (trx: Trx, keys: readonly string[]): Promise<EndpointQueue[]> =>
  trx.rows(lockByKey, [keys]);

const updateHealth = statement(
  'queues_update_health',
  `update endpoint_queues q set has_succeeded = g.has_succeeded, consecutive_failures = g.consecutive_failures,
     failing_since = g.failing_since, last_failed_at = g.last_failed_at, open_until = g.open_until,
     missed_since = g.missed_since
   from ${health.from('g')} where q.endpoint_key = g.endpoint_key`,
);

export async function updateQueueHealth(trx: Trx, queues: readonly EndpointQueue[]): Promise<void> {
  await trx.rows(updateHealth, health.values(queues));
}

/** A due time is never moved later, but is never before the end of an open circuit. */
const first = (column: 'new_due_at' | 'retry_due_at', retry: boolean) => `
       greatest(least(${column}, (
         select greatest(d.due_at, $2) from deliveries d
         where d.endpoint_key = q.endpoint_key and d.state = 'waiting' and d.retry = ${retry}
         order by d.due_at, d.sequence limit 1)), open_until) as ${column}`;

const wake = statement(
  'queues_wake',
  `with found as materialized (
     select endpoint_key, ${first('new_due_at', false)}, ${first('retry_due_at', true)}
     from endpoint_queues q where endpoint_key = any($1::bigint[]))
   update endpoint_queues q set new_due_at = found.new_due_at, retry_due_at = found.retry_due_at
   from found where q.endpoint_key = found.endpoint_key
     and (q.new_due_at, q.retry_due_at) is distinct from (found.new_due_at, found.retry_due_at)`,
);

/**
 * Sets the due times of locked queues by their waiting deliveries. It is a separate statement, after the change that queued
 * a delivery or freed a slot.
 */
export async function wakeQueues(trx: Trx, keys: readonly string[], now: Date): Promise<void> {
  await trx.rows(wake, [keys, now]);
}

const reset = statement(
  'queue_reset',
  `update endpoint_queues set generation = default, consecutive_failures = 0, failing_since = null,
     last_failed_at = null, open_until = null, has_succeeded = false, new_due_at = $2, retry_due_at = $2
   where endpoint_key = $1`,
);

/** Resets the health of an endpoint with a new URL, and makes its locked queue due. */
export async function resetQueue(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(reset, [key, now]);
}
