import type { AccessRefusal } from '@quittance/shared/http-answers';
import { type AccountId, newEventId } from '@quittance/shared/ids';
import { invariant, ok, type Result, refuse } from '@quittance/shared/result';
import { type DeliveryId, deliveryIdOf } from '../domain/delivery.ts';
import type { LoggedEvent } from '../domain/envelope.ts';
import type { Ports } from '../ports.ts';
import { insertDelivery } from '../store/deliveries.ts';
import { countEndpointTest } from '../store/endpoints.ts';
import { findEvent, insertEvents } from '../store/events.ts';
import { lockEndpoint } from './read-endpoint.ts';

/** Appends a test event to the account's log and queues it for this endpoint only, whatever its event types. */
export async function testEndpoint(
  { db, clock, random }: Pick<Ports, 'db' | 'clock' | 'random'>,
  account: AccountId,
  id: string,
): Promise<Result<{ event: LoggedEvent; deliveryId: DeliveryId }, AccessRefusal | 'disabled'>> {
  const now = clock.now();
  const eventId = newEventId(now, random);
  return await db.transaction(async (trx) => {
    const found = await lockEndpoint(trx, account, id);
    if (!found.ok) return found;
    const endpoint = found.value;
    if (!endpoint.enabled) return refuse('disabled');
    const version = await countEndpointTest(trx, endpoint.key);
    const data = { webhook_id: endpoint.id, message: 'This is a test: nothing has happened.' };
    const [numbered] = await insertEvents(trx, [
      {
        id: eventId,
        accountId: account,
        kind: 'webhook.test',
        createdAt: now,
        resourceId: endpoint.id,
        version,
        data: JSON.stringify(data),
      },
    ]);
    invariant(numbered !== undefined, 'an event that was logged has a number');
    await insertDelivery(trx, { endpointKey: endpoint.key, sequence: numbered.sequence }, now);
    const event = await findEvent(trx, eventId);
    invariant(event !== undefined, 'an event that was logged can be read');
    return ok({ event, deliveryId: deliveryIdOf(endpoint.id, eventId) });
  });
}
