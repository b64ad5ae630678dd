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

type NewEndpoint = Pick<Endpoint, 'id' | 'accountId' | 'url' | 'eventTypes' | 'description' | 'createdAt'> & {
  encryptedSecret: Buffer;
};

/** Stores an endpoint with its secret and its queue. */
export const insertEndpoint = (
  trx: Trx,
  { id, accountId, url, eventTypes, description, createdAt, encryptedSecret }: NewEndpoint,
): Promise<Endpoint> =>
  trx.one(insertRow, [id, accountId, url, eventTypes, description, createdAt, encryptedSecret]);

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
  const keys = disabled.map(({ key }) => key);
  await closeEndpoints(trx, keys);
}

const markEnabled = statement(
  'endpoint_enable',
  `with live as (
     update endpoints set enabled = true, disabled_reason = null, failing_since = null, subscribed_since = $2
     where key = $1 returning key, missed_since)
   insert into endpoint_queues (endpoint_key, missed_since) select key, missed_since + interval '1 hour' from live`,
);

/** Enables a disabled endpoint, with a new health. Its account must be locked, and no delivery may wait for it. */
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

/** When a valid secret ends; null for the newest. */
export type ValidSecret = { endsAt: Date | null };

const selectValid = query<ValidSecret>(
  'secrets_valid',
  `select ends_at from endpoint_secrets
   where endpoint_key = $1 and (ends_at is null or ends_at > $2) order by ends_at`,
);

/** When the valid secrets of an endpoint end, the first first. */
export const validSecretsOf = (trx: Trx, key: string, now: Date): Promise<ValidSecret[]> =>
  trx.rows(selectValid, [key, now]);

const replace = statement(
  'secret_replace',
  // Two secrets of one millisecond keep their order.
  `with former as (
     update endpoint_secrets set ends_at = least(ends_at, $3)
     where endpoint_key = $1 and (ends_at is null or ends_at > $2))
   insert into endpoint_secrets (endpoint_key, encrypted_secret, created_at)
   select $1, $4, greatest($2, max(created_at) + interval '1 millisecond')
   from endpoint_secrets where endpoint_key = $1`,
);

/** Gives a locked endpoint a new secret. Its former ones end at `formerUntil`, or earlier as they were to. */
export async function replaceSecret(
  trx: Trx,
  { key, encrypted, now, formerUntil }: { key: string; encrypted: Buffer; now: Date; formerUntil: Date },
): Promise<void> {
  await trx.rows(replace, [key, now, formerUntil, encrypted]);
}
