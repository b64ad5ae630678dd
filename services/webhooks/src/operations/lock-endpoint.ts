import type { Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Result } from '@quittance/shared/result';
import { lockQueues } from '../store/endpoint-queues.ts';
import { type Endpoint, lockAccount } from '../store-endpoints.ts';
import { readEndpoint } from './read-endpoint.ts';

/**
 * One endpoint of the account, as it stays until this transaction ends: nothing is recorded for it, claimed from it
 * or changed about it meanwhile.
 */
export async function lockEndpoint(
  trx: Trx,
  account: AccountId,
  id: string,
): Promise<Result<Endpoint, 'unknown' | 'not_yours'>> {
  const found = await readEndpoint({ db: trx }, account, id);
  if (!found.ok) return found;
  await lockAccount(trx, account);
  await lockQueues(trx, [found.value.key]);
  // Whoever held the locks before may have changed it.
  return await readEndpoint({ db: trx }, account, id);
}
