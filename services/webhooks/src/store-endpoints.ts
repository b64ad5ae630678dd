import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, EndpointId } from '@quittance/shared/ids';

/** An endpoint as it is stored; `key` is its short name inside this schema. */
export type Endpoint = {
  key: string;
  id: EndpointId;
  accountId: AccountId;
  url: string;
  kinds: string[];
  description: string | null;
  enabled: boolean;
  disabledReason: string | null;
  createdAt: Date;
};

const columns = `key, id, account_id as "accountId", url, kinds, description, enabled,
  disabled_reason as "disabledReason", created_at as "createdAt"`;

const lockAccountRow = statement(
  'account_lock',
  `insert into accounts (account_id, last_sequence) values ($1, 0)
   on conflict (account_id) do update set last_sequence = accounts.last_sequence`,
);

/** Makes everybody else wait who wants to change what belongs to this account as a whole. */
export async function lockAccount(trx: Trx, account: AccountId): Promise<void> {
  await trx.rows(lockAccountRow, [account]);
}

const selectOfAccount = statement(
  'endpoints_of_account',
  `select ${columns} from endpoints where account_id = $1 and deleted_at is null order by key desc`,
);

/** All of an account, the newest first: there are few. */
export const endpointsOf = (db: Queryable, account: AccountId): Promise<Endpoint[]> =>
  db.rows<Endpoint>(selectOfAccount, [account]);

const selectOne = statement(
  'endpoint_by_id',
  `select ${columns} from endpoints where id = $1 and deleted_at is null`,
);

export const findEndpoint = (db: Queryable, id: string): Promise<Endpoint | undefined> =>
  db.maybe<Endpoint>(selectOne, [id]);

const insertRow = statement(
  'endpoint_insert',
  `with made as (
     insert into endpoints (id, account_id, url, kinds, description, created_at)
     values ($1, $2, $3, $4, $5, $6) returning *),
   sealed as (
     insert into endpoint_secrets (endpoint_key, sealed, created_at) select key, $7, created_at from made),
   lane as (insert into lanes (endpoint_key) select key from made)
   select ${columns} from made`,
);

export type NewEndpoint = Pick<
  Endpoint,
  'id' | 'accountId' | 'url' | 'kinds' | 'description' | 'createdAt'
> & {
  sealedSecret: Buffer;
};

/** Stores an endpoint with its secret and the lane that makes it live. */
export const insertEndpoint = (trx: Trx, made: NewEndpoint): Promise<Endpoint> =>
  trx.one<Endpoint>(insertRow, [
    made.id,
    made.accountId,
    made.url,
    made.kinds,
    made.description,
    made.createdAt,
    made.sealedSecret,
  ]);

const closeLanes = statement('lanes_close', `delete from lanes where endpoint_key = any($1::bigint[])`);

const cancelWaiting = statement(
  'deliveries_cancel_waiting',
  `update deliveries set state = 'cancelled' where endpoint_key = any($1::bigint[]) and state = 'waiting'`,
);

/**
 * Ends all that waits for these endpoints and lets nothing new come. What is being sent at this moment ends as
 * it will, and is not tried again. The lanes must be locked, or about to be by this very statement.
 */
async function endDeliveries(trx: Trx, keys: readonly string[]): Promise<void> {
  await trx.rows(closeLanes, [keys]);
  await trx.rows(cancelWaiting, [keys]);
}

const markDeleted = statement(
  'endpoint_delete',
  `with gone as (
     update endpoints set deleted_at = $2, enabled = false where key = $1 and deleted_at is null returning key)
   delete from endpoint_secrets using gone where endpoint_key = gone.key`,
);

export async function deleteEndpointRow(trx: Trx, key: string, now: Date): Promise<void> {
  await endDeliveries(trx, [key]);
  await trx.rows(markDeleted, [key, now]);
}

const markDisabled = statement(
  'endpoints_disable',
  `update endpoints set enabled = false, disabled_reason = given.reason
   from unnest($1::bigint[], $2::text[]) as given(key, reason) where endpoints.key = given.key`,
);

/** Disables endpoints whose lanes this transaction has locked. */
export async function disableEndpoints(
  trx: Trx,
  disabled: readonly { key: string; reason: string }[],
): Promise<void> {
  const keys = disabled.map(({ key }) => key);
  await endDeliveries(trx, keys);
  await trx.rows(markDisabled, [keys, disabled.map(({ reason }) => reason)]);
}
