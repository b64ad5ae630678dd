import type { Trx } from '@quittance/shared/db';
import type { AccessRefusal } from '@quittance/shared/http-answers';
import type { AccountId } from '@quittance/shared/ids';
import { type Result, refuse } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { requeueDelivery } from '../store/deliveries.ts';
import type { LoggedDelivery } from '../store/delivery-log.ts';
import { lockQueues } from '../store/endpoint-queues.ts';
import { readDelivery } from './read-deliveries.ts';

/**
 * Sends an event to an endpoint again, now and with the same id, whatever the state of the delivery. A new retry cycle
 * begins. Two requests before it is sent send it once.
 * @param ports.note writes the operator's audit log in the same transaction
 */
export async function redeliver(
  { db, clock, note }: Pick<Ports, 'db' | 'clock'> & { note?: (trx: Trx) => Promise<void> },
  account: AccountId,
  id: string,
): Promise<Result<LoggedDelivery, AccessRefusal | 'deleted' | 'disabled' | 'sending'>> {
  const now = clock.now();
  return await db.transaction(async (trx) => {
    const known = await readDelivery({ db: trx }, account, id);
    if (!known.ok) return known;
    const queues = await lockQueues(trx, [known.value.endpointKey]);
    const found = await readDelivery({ db: trx }, account, id);
    if (!found.ok) return found;
    if (found.value.endpointDeleted) return refuse('deleted');
    if (queues.length === 0) return refuse('disabled');
    if (!(await requeueDelivery(trx, found.value, now))) return refuse('sending');
    await note?.(trx);
    return await readDelivery({ db: trx }, account, id);
  });
}
