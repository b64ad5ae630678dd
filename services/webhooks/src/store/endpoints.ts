import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EndpointId } from '@quittance/shared/ids';

/** A stored endpoint. `key` is its short id within this schema. */
export type Endpoint = {
  key: string;
  id: EndpointId;
  accountId: AccountId;
  url: string;
  eventTypes: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: string | null;
  /** When it was last disabled. It may be enabled again. */
  disabledAt: Date | null;
  /** Events that it missed when it was last disabled happened after this; null when it never was. */
  missedSince: Date | null;
  /** Since when every attempt has failed; null after a success. */
  failingSince: Date | null;
  /** The end of the pause that it asked for; null without one, or when a delivery succeeded after it. */
  pausedUntil: Date | null;
  createdAt: Date;
};

const columns = `key, id, account_id, url, event_types, description, enabled, disabled_reason, disabled_at, created_at,
  missed_since,
  coalesce((select failing_since from endpoint_queues where endpoint_key = key), failing_since) as failing_since,
  (select open_until from endpoint_queues where endpoint_key = key) as paused_until`;

const lockAccountRow = statement(
  'account_lock',
  `insert into accounts (account_id, last_sequence) values ($1, 0)
   on conflict (account_id) do update set last_sequence = accounts.last_sequence`,
);

/** Locks the account: changes of its endpoints wait for each other. */
export async function lockAccount(trx: Trx, account: AccountId): Promise<void> {
  await trx.rows(lockAccountRow, [account]);
}

const selectOfAccount = query<Endpoint>(
  'endpoints_of_account',
  `select ${columns} from endpoints where account_id = $1 and deleted_at is null order by key desc`,
);

/** All endpoints of an account, the newest first. */
export const endpointsOf = (db: Queryable, account: AccountId): Promise<Endpoint[]> =>
  db.rows(selectOfAccount, [account]);

const selectOne = query<Endpoint>(
  'endpoint_by_id',
  `select ${columns} from endpoints where id = $1 and deleted_at is null`,
);

export const findEndpoint = (db: Queryable, id: string): Promise<Endpoint | undefined> =>
  db.maybe(selectOne, [id]);

const insertRow = query<Endpoint>(
  'endpoint_insert',
  `with made as (
     insert into endpoints (id, account_id, url, event_types, description, created_at)
     values ($1, $2, $3, $4, $5, $6) returning *),
   secret as (
     insert into endpoint_secrets (endpoint_key, encrypted_secret, created_at) select key, $7, created_at from made),
   queue as (insert into endpoint_queues (endpoint_key) select key from made)
   select ${columns} from made`,
);

export type NewEndpoint = Pick<
  Endpoint,
  'id' | 'accountId' | 'url' | 'eventTypes' | 'description' | 'createdAt'
> & {
  encryptedSecret: Buffer;
};

/** Stores an endpoint with its secret and its queue. */
export const insertEndpoint = (trx: Trx, made: NewEndpoint): Promise<Endpoint> =>
  trx.one(insertRow, [
    made.id,
    made.accountId,
    made.url,
    made.eventTypes,
    made.description,
    made.createdAt,
    made.encryptedSecret,
  ]);

const removeQueues = statement(
  'queues_remove',
  `with closed as (delete from endpoint_queues where endpoint_key = any($1::bigint[]) returning endpoint_key)
   update endpoints set has_deliveries_to_cancel = true from closed where key = closed.endpoint_key`,
);

/**
 * Removes the queues of endpoints, so that nothing more is sent to them. Their waiting deliveries are cancelled later, by
 * `cancelWaiting`. Attempts in flight end and are not retried.
 */
async function closeEndpoints(trx: Trx, keys: readonly string[]): Promise<void> {
  await trx.rows(removeQueues, [keys]);
}

export type EndpointToCancel = { key: string; isDeleted: boolean };
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
export async function deletedWithUntried(db: Queryable, afterKey: string, limit: number): Promise<string[]> {
  return (await db.rows(selectDeletedWithUntried, [afterKey, limit])).map(({ key }) => key);
}

const markDeleted = statement(
  'endpoint_delete',
  `with deleted as (
     update endpoints set deleted_at = $2, enabled = false where key = $1 and deleted_at is null returning key)
   delete from endpoint_secrets using deleted where endpoint_key = deleted.key`,
);

export async function deleteEndpointRow(trx: Trx, key: string, now: Date): Promise<void> {
  await closeEndpoints(trx, [key]);
  await trx.rows(markDeleted, [key, now]);
}

const disabledEndpoints = bulk({ key: 'bigint', reason: 'text' });
const oldest = (state: 'waiting' | 'sending') =>
  `(select min(sequence) from deliveries where endpoint_key = p.key and state = '${state}')`;

// Events do not arrive in the order in which they happened. An hour is longer than any such delay, and a replay skips
// delivered events.
const markDisabled = statement(
  'endpoints_disable',
  `update endpoints p set enabled = false, disabled_reason = given.reason, disabled_at = $3,
     failing_since = q.failing_since,
     missed_since = least($3, q.missed_since, (
       select created_at from events
       where account_id = p.account_id and sequence = least(${oldest('waiting')}, ${oldest('sending')})))
       - interval '1 hour'
   from ${disabledEndpoints.from('given')} join endpoint_queues q on q.endpoint_key = given.key
   where p.key = given.key`,
);

/** Disables endpoints whose queues are locked, and stores since when they miss events. */
export async function disableEndpoints(
  trx: Trx,
  disabled: readonly { key: string; reason: string }[],
  now: Date,
): Promise<void> {
  await trx.rows(markDisabled, [...disabledEndpoints.values(disabled), now]);
  await closeEndpoints(
    trx,
    disabled.map(({ key }) => key),
  );
}

const markEnabled = statement(
  'endpoint_enable',
  `with live as (
     update endpoints set enabled = true, disabled_reason = null, failing_since = null, subscribed_since = $2
     where key = $1 returning key, missed_since)
   insert into endpoint_queues (endpoint_key, missed_since) select key, missed_since + interval '1 hour' from live`,
);

/**
 * Enables a disabled endpoint, with a new health. Its account must be locked, and no delivery may wait for it.
 */
export async function enableEndpoint(trx: Trx, key: string, now: Date): Promise<void> {
  await trx.rows(markEnabled, [key, now]);
}

const rewrite = statement(
  'endpoint_change',
  `update endpoints set url = $2, event_types = $3, description = $4,
     subscribed_since = case when $3 <@ event_types then subscribed_since else $5 end
   where key = $1`,
);

/** Stores the fields that the owner may change. The endpoint is subscribed to added event types from now on. */
export async function changeEndpointRow(
  trx: Trx,
  { key, url, eventTypes, description }: Pick<Endpoint, 'key' | 'url' | 'eventTypes' | 'description'>,
  now: Date,
): Promise<void> {
  await trx.rows(rewrite, [key, url, eventTypes, description, now]);
}

const countTest = query<{ tests: number }>(
  'endpoint_count_test',
  `update endpoints set tests = tests + 1 where key = $1 returning tests::int`,
);

/** Counts a test of a locked endpoint. @returns its number */
export async function countEndpointTest(trx: Trx, key: string): Promise<number> {
  return (await trx.one(countTest, [key])).tests;
}
