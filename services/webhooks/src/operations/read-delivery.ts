import type { Queryable } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { partsOfDeliveryId } from '../domain/delivery-id.ts';
import { type FoundDelivery, findDelivery } from '../store-delivery-log.ts';

/** One delivery, if it is there and the account's own; also of an endpoint that is deleted by now. */
export async function readDelivery(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<FoundDelivery, 'unknown' | 'not_yours'>> {
  const parts = partsOfDeliveryId(id);
  const delivery = parts && (await findDelivery(db, parts));
  if (delivery === undefined) return refuse('unknown');
  return delivery.accountId === account ? ok(delivery) : refuse('not_yours');
}
