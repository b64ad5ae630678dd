import { bulk, type Queryable, query, statement } from '@quittance/shared/db';
import type { AccountId, PersonId, TokenId } from '@quittance/shared/ids';
import { countOf, type Place, pageOfFound } from '@quittance/shared/pages';
import type { FailedRequest } from '../failed-requests.ts';

/** So many are kept of an account. */
const KEPT_PER_ACCOUNT = 1_000;
const KEPT_DAYS = 30;

const rows = bulk({
  id: 'text',
  account: 'account_id text',
  at: 'timestamptz',
  method: 'text',
  path: 'text',
  status: 'int',
  code: 'text',
  actor: 'text',
  address: 'text',
});

// Repeated when it is not known whether it was carried out.
const insertAll = statement(
  'failed_requests_insert',
  `${rows.insertInto('failed_requests')} on conflict (id) do nothing`,
);

const deleteOthers = statement(
  'failed_requests_prune',
  `delete from failed_requests f using unnest($1::text[]) as written (account_id)
   where f.account_id = written.account_id and f.id <= (
     select id from failed_requests o where o.account_id = written.account_id
     order by id desc offset ${KEPT_PER_ACCOUNT} limit 1)`,
);

/** Stores requests that failed, and deletes what of their accounts is too many. */
export async function insertFailedRequests(db: Queryable, requests: readonly FailedRequest[]): Promise<void> {
  await db.rows(insertAll, rows.values(requests));
  await db.rows(deleteOthers, [[...new Set(requests.map(({ account }) => account))]]);
}

const deleteOld = query<{ id: string }>(
  'failed_requests_expire',
  `delete from failed_requests where id in (
     select id from failed_requests where at < $1::timestamptz - interval '${KEPT_DAYS} days' order by id limit 1000)
   returning id`,
);

/** Deletes a thousand of those that are too old. @returns how many */
export const deleteOldRequests = async (db: Queryable, now: Date): Promise<number> =>
  (await db.rows(deleteOld, [now])).length;

/** With the name of the person, where it is one and is still known. */
export type ListedRequest = Omit<FailedRequest, 'account' | 'actor'> & {
  tokenId: TokenId | null;
  personId: PersonId | null;
  personName: string | null;
};

const countListed = query<{ total: number }>(
  'failed_requests_listed',
  countOf('failed_requests where account_id = $1'),
);

const selectPage = query<ListedRequest>(
  'failed_requests_page',
  `select f.id, f.at, f.method, f.path, f.status::int as status, f.code, f.address,
     case when f.actor like 'tok\\_%' then f.actor end as token_id,
     case when f.actor like 'per\\_%' then f.actor end as person_id, p.name as person_name
   from failed_requests f left join people p on p.id = f.actor
   where f.account_id = $1 order by f.id desc limit $2 offset $3`,
);

/** A page of the requests of an account that failed, newest first, and how many there are. */
export async function failedRequestsPage(
  db: Queryable,
  account: AccountId,
  place: Place,
): Promise<{ items: ListedRequest[]; total: number }> {
  const { total } = await db.one(countListed, [account]);
  return pageOfFound(total, place, await db.rows(selectPage, [account, place.limit + 1, place.offset]));
}
