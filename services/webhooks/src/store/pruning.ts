import { type Db, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';

type EndpointToCancel = { key: string; isDeleted: boolean };
const toCancel = 'key, deleted_at is not null as is_deleted';

const lockToCancel = query<EndpointToCancel>(
  'endpoint_to_cancel_lock',
  `select ${toCancel} from endpoints where key = $1 and has_deliveries_to_cancel for update`,
);

const lockNextToCancel = query<EndpointToCancel>(
  'endpoint_to_cancel_lock_next',
  `select ${toCancel} from endpoints where has_deliveries_to_cancel order by key limit 1 for update skip locked`,
);

/** Locks an endpoint that has deliveries to cancel: this one, or the next that no one else has locked. */
export const lockEndpointToCancel = (trx: Trx, key?: string): Promise<EndpointToCancel | undefined> =>
  key === undefined ? trx.maybe(lockNextToCancel) : trx.maybe(lockToCancel, [key]);

// A separate statement after the lock: an earlier snapshot may lack the last waiting deliveries.
const cancelSome = query<{ cancelled: number }>(
  'deliveries_cancel_waiting',
  `with part as materialized (
     select endpoint_key, sequence from deliveries where endpoint_key = $1 and state = 'waiting' limit $2 for update),
   ended as (
     update deliveries d set state = 'cancelled' from part
     where d.endpoint_key = part.endpoint_key and d.sequence = part.sequence returning 1),
   finished as (
     update endpoints set has_deliveries_to_cancel = false where key = $1 and (select count(*) from part) < $2)
   select count(*)::int as cancelled from ended`,
);

/** Cancels at most `atMost` waiting deliveries of a locked endpoint without a queue. Fewer were the last. */
export async function cancelWaiting(trx: Trx, key: string, atMost: number): Promise<number> {
  return (await trx.one(cancelSome, [key, atMost])).cancelled;
}

const pruneOfDeleted = query<{ ended: number }>(
  'deliveries_prune_of_deleted',
  `select prune_deliveries_of_deleted($1, $2) as ended`,
);

/** Removes waiting deliveries of a deleted endpoint that were never tried, and cancels the others. Fewer were the last. */
export async function pruneDeliveriesOfDeleted(db: Queryable, key: string, atMost: number): Promise<number> {
  return (await db.one(pruneOfDeleted, [key, atMost])).ended;
}

const selectDeletedWithUntried = query<{ key: string }>(
  'endpoints_deleted_with_untried',
  `select p.key from endpoints p
   where p.key > $1 and p.deleted_at is not null and exists (
     select from deliveries d where d.endpoint_key = p.key and d.state = 'cancelled' and d.attempts = 0)
   order by p.key limit $2`,
);

/** The next deleted endpoints with deliveries that were cancelled untried, as an older release did. */
export async function deletedWithUntried(db: Db, afterKey: string, limit: number): Promise<string[]> {
  return (await db.rows(selectDeletedWithUntried, [afterKey, limit])).map(({ key }) => key);
}

export type AccountAge = { accountId: AccountId; isOld: boolean };

const selectAges = query<AccountAge>(
  'accounts_ages_of_event_logs',
  `select a.account_id, (first.created_at < now() - interval '90 days') is true as is_old
   from (select account_id, pruned_through from accounts where account_id > $1 order by account_id limit $2) as a
   left join lateral (
     select created_at from events e where e.account_id = a.account_id and e.sequence > a.pruned_through
     order by sequence limit 1) as first on true
   order by a.account_id`,
);

/** The next accounts in the order of their ids, and whether the oldest event of each is older than events are kept. */
export const agesOfEventLogs = (db: Db, afterAccount: string, limit: number): Promise<AccountAge[]> =>
  db.rows(selectAges, [afterAccount, limit]);

const pruneOfAccount = query<{ pruned: number }>('events_prune', `select prune_events($1, $2) as pruned`);

/** Removes an account's oldest events, when they are older than 90 days, with their deliveries. */
export async function pruneEvents(db: Db, account: AccountId, limit: number): Promise<number> {
  return (await db.one(pruneOfAccount, [account, limit])).pruned;
}

const pruneDeleted = query<{ pruned: number }>('endpoints_prune', `select prune_endpoints($1) as pruned`);

/** Removes endpoints that were deleted at least an hour ago and have no deliveries. */
export async function pruneEndpoints(db: Db, limit: number): Promise<number> {
  return (await db.one(pruneDeleted, [limit])).pruned;
}

const removeEnded = statement(
  'secrets_remove_ended',
  `delete from endpoint_secrets where ends_at <= $1 returning 1`,
);

/** Removes ended secrets. @returns how many */
export async function removeEndedSecrets(db: Db, now: Date): Promise<number> {
  return (await db.rows(removeEnded, [now])).length;
}
