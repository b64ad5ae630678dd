import { statement, type Trx } from '@quittance/shared/db';
import type { Health } from './domain/health.ts';

/**
 * Lock order of this schema: accounts, then lanes, each sorted, then everything else. Only the claim takes lanes
 * out of order, and it waits for none.
 */

/** When a lane has to be looked at, now that something in it is due at `at`: no sooner than its endpoint has asked for. */
export const lookedAtFrom = (column: 'due_at' | 'retry_due_at', at: `$${number}`): string =>
  `${column} = least(${column}, greatest(${at}, paused_until))`;

export type Lane = {
  endpointKey: string;
  generation: string;
  full: boolean;
  retriesFull: boolean;
  proven: boolean;
  pausedUntil: Date | null;
  /** When the oldest event happened that was tried in vain since the last success. */
  missedSince: Date | null;
} & Health;

const lockByKey = statement(
  'lanes_lock',
  `select endpoint_key as "endpointKey", generation, "full", retries_full as "retriesFull", proven, failures,
     failing_since as "failingSince", failed_at as "failedAt", paused_until as "pausedUntil",
     missed_since as "missedSince" from lanes
   where endpoint_key = any($1::bigint[]) order by endpoint_key for update`,
);

/** Locks the lanes of those of these endpoints that are live. */
export const lockLanes = (trx: Trx, keys: readonly string[]): Promise<Lane[]> =>
  trx.rows<Lane>(lockByKey, [keys]);

const settle = statement(
  'lanes_settle',
  `update lanes set "full" = false, retries_full = false,
     due_at = case when least(lanes.due_at, g.due_at) is not null
       then greatest(least(lanes.due_at, g.due_at), g.paused_until) end,
     retry_due_at = case when least(lanes.retry_due_at, g.retry_due_at) is not null
       then greatest(least(lanes.retry_due_at, g.retry_due_at), g.paused_until) end,
     proven = lanes.proven or g.proven, failures = g.failures, failing_since = g.failing_since,
     failed_at = g.failed_at, paused_until = g.paused_until, missed_since = g.missed_since
   from unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::bool[], $5::int[], $6::timestamptz[],
     $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
     as g(endpoint_key, due_at, retry_due_at, proven, failures, failing_since, failed_at, paused_until, missed_since)
   where lanes.endpoint_key = g.endpoint_key`,
);

export type SettledLane = {
  endpointKey: string;
  dueAt: Date | null;
  retryDueAt: Date | null;
  proven: boolean;
  pausedUntil: Date | null;
  missedSince: Date | null;
} & Health;

/** Writes what attempts that ended mean for their locked lanes: a slot is free, something is due then. */
export async function settleLanes(trx: Trx, lanes: readonly SettledLane[]): Promise<void> {
  await trx.rows(settle, [
    lanes.map((lane) => lane.endpointKey),
    lanes.map((lane) => lane.dueAt),
    lanes.map((lane) => lane.retryDueAt),
    lanes.map((lane) => lane.proven),
    lanes.map((lane) => lane.failures),
    lanes.map((lane) => lane.failingSince),
    lanes.map((lane) => lane.failedAt),
    lanes.map((lane) => lane.pausedUntil),
    lanes.map((lane) => lane.missedSince),
  ]);
}
