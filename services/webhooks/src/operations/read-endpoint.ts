import type { Queryable, Trx } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { lockQueues } from '../store/endpoint-queues.ts';
import { type Endpoint, endpointsOf, findEndpoint, lockAccount } from '../store/endpoints.ts';

/** One endpoint of the account. */
export async function readEndpoint(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, AccessRefusal>> {
  const endpoint = await findEndpoint(db, id);
  if (endpoint === undefined) return refuse('not_found');
  return endpoint.accountId === account ? ok(endpoint) : refuse('forbidden');
}

/**
 * One endpoint of the account, locked until the transaction ends: nothing is recorded for it, claimed from it or changed
 * about it before then.
 */
export async function lockEndpoint(
  trx: Trx,
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, AccessRefusal>> {
  const found = await readEndpoint({ db: trx }, account, id);
  if (!found.ok) return found;
  await lockAccount(trx, account);
  await lockQueues(trx, [found.value.key]);
  // The transaction that held the locks before may have changed it.
  return await readEndpoint({ db: trx }, account, id);
}

/** One page of an account's endpoints, the newest first, and their total. */
export async function listEndpoints(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  { page, perPage }: { page: number; perPage: number },
): Promise<{ endpoints: Endpoint[]; total: number }> {
  // An account has at most 20, so all are read.
  const all = await endpointsOf(db, account);
  return { endpoints: all.slice((page - 1) * perPage, page * perPage), total: all.length };
}
