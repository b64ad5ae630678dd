import type { AccountId } from '@quittance/shared/ids';
import { ok, type Result } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { type DeliveriesWanted, deliveriesOf, type LoggedDelivery } from '../store-delivery-log.ts';
import { readEndpoint } from './read-endpoint.ts';

/** An endpoint's deliveries, the latest first; `nextBefore` is where to go on, null at the end. */
export async function listDeliveries(
  { db }: Pick<Ports, 'db'>,
  account: AccountId,
  id: string,
  wanted: DeliveriesWanted,
): Promise<Result<{ deliveries: LoggedDelivery[]; nextBefore: string | null }, 'unknown' | 'not_yours'>> {
  const found = await readEndpoint({ db }, account, id);
  if (!found.ok) return found;
  const deliveries = await deliveriesOf(db, found.value, { ...wanted, limit: wanted.limit + 1 });
  const shown = deliveries.slice(0, wanted.limit);
  const nextBefore = deliveries.length > wanted.limit ? (shown.at(-1)?.sequence ?? null) : null;
  return ok({ deliveries: shown, nextBefore });
}
