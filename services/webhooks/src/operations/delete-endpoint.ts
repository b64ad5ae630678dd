import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { deleteEndpointRow } from '../store/endpoints.ts';
import { lockEndpoint } from './read-endpoint.ts';

/** Deletes an endpoint: nothing more is sent to it, apart from attempts in flight. */
export async function deleteEndpoint(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  account: AccountId,
  id: string,
): Promise<Result<null, AccessRefusal>> {
  return await db.transaction(async (trx) => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return found;
    await deleteEndpointRow(trx, found.value.key, clock.now());
    return ok(null);
  });
}
