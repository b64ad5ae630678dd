import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EndpointId } from '@quittance/shared/ids';
import { bulk } from '@quittance/shared/store-kit';

/** An endpoint as it is stored; `key` is its short name inside this schema. */
export type Endpoint = {
  key: string;
  id: EndpointId;
  accountId: AccountId;
  url: string;
  eventTypes: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: string | null;
  /** The last time; it may be enabled again since. */
  disabledAt: Date | null;
  /** What it missed by being disabled the last time happened after this; null when it never was. */
  missedSince: Date | null;
  /** Since when nothing that was sent to it has arrived; null while it is well. */
  failingSince: Date | null;
  /** Until when it asked to be left alone; null when it did not, or something has arrived since. */
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

/** Makes everybody else wait who wants to change what belongs to this account as a whole. */
export async function lockAccount(trx: Trx, account: AccountId): Promise<void> {
  await trx.rows(lockAccountRow, [account]);
}

const selectOfAccount = query<Endpoint>(
  'endpoints_of_account',
  `select ${columns} from endpoints where account_id = $1 and deleted_at is null order by key desc`,
);

/** All of an account, the newest first: there are few. */
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

/** Stores an endpoint with its secret and the queue that makes it live. */
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
 * Lets nothing more be sent to these endpoints; what waits for them is cancelled afterwards, by `cancelWaiting`. What is
 * being sent at this moment ends as it will, and is not tried again. Locks their queues, if that is not done yet.
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

/** Locks an endpoint for which something may wait that will not be sent: this one, or one that nobody works on. */
export const lockEndpointToCancel = (trx: Trx, key?: string): Promise<EndpointToCancel | undefined> =>
  key === undefined ? trx.maybe(lockNextToCancel) : trx.maybe(lockToCancel, [key]);

// A statement of its own after the lock: a snapshot from before it may lack what waited last.
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

/** Cancels at most so many of those that wait for a locked endpoint without a queue; fewer were the last. */
export async function cancelWaiting(trx: Trx, key: string, atMost: number): Promise<number> {
  return (await trx.one(cancelSome, [key, atMost])).cancelled;
}

const pruneOfDeleted = query<{ ended: number }>(
  'deliveries_prune_of_deleted',
  `select prune_deliveries_of_deleted($1, $2) as ended`,
);

/** Removes what waits for a deleted endpoint and was never tried, and cancels the rest; fewer than `atMost` were the last. */
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

/** The next deleted endpoints for which something was cancelled that was never tried, as by an older release. */
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

// Events arrive in another order than they happened in, and a moment later. An hour is more than they are apart while
// everything runs, and a replay leaves out what has arrived.
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

/** Disables endpoints whose queues this transaction has locked, and notes since when they have missed something. */
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
 * Makes a disabled endpoint live again, as if nothing had ever failed; its account must be locked, and nothing may wait
 * for it from before.
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

/** Writes what its owner may choose about an endpoint. It is subscribed to added event types from now on. */
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

/** One more test of a locked endpoint; answers which it is. */
export async function countEndpointTest(trx: Trx, key: string): Promise<number> {
  return (await trx.one(countTest, [key])).tests;
}
