import type { Queryable } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type Endpoint, findEndpoint } from '../store-endpoints.ts';

/** One endpoint, if it is there and the account's own. */
export async function readEndpoint(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, 'unknown' | 'not_yours'>> {
  const endpoint = await findEndpoint(db, id);
  if (endpoint === undefined) return refuse('unknown');
  return endpoint.accountId === account ? ok(endpoint) : refuse('not_yours');
}
