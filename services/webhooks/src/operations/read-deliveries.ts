import type { Queryable } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { partsOfDeliveryId } from '../domain/delivery.ts';
import type { Ports } from '../ports.ts';
import {
  type DeliveriesQuery,
  deliveriesOf,
  type FoundDelivery,
  findDelivery,
  type LoggedDelivery,
} from '../store/delivery-log.ts';
import { readEndpoint } from './read-endpoint.ts';

/** One delivery of the account, also of a deleted endpoint. */
export async function readDelivery(
  { db }: { db: Queryable },
  account: AccountId,
  id: string,
): Promise<Result<FoundDelivery, AccessRefusal>> {
  const parts = partsOfDeliveryId(id);
  const delivery = parts && (await findDelivery(db, parts));
  if (delivery === undefined) return refuse('not_found');
  return delivery.accountId === account ? ok(delivery) : refuse('forbidden');
}

/** An endpoint's deliveries, the latest first. `nextBefore` is the start of the next page, null at the end. */
export async function listDeliveries(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
  wanted: DeliveriesQuery,
): Promise<Result<{ deliveries: LoggedDelivery[]; nextBefore: string | null }, AccessRefusal>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const deliveries = await deliveriesOf(db, found.value, { ...wanted, limit: wanted.limit + 1 });
  const shown = deliveries.slice(0, wanted.limit);
  const nextBefore = deliveries.length > wanted.limit ? (shown.at(-1)?.sequence ?? null) : null;
  return ok({ deliveries: shown, nextBefore });
}
