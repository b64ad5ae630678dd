import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import { failpoint } from '@quittance/shared/failpoint';
import type { AccountId } from '@quittance/shared/ids';
import type { WebhookEventType } from '../domain/event-types.ts';
import type { Ports } from '../ports.ts';
import { insertDeliveries } from '../store/deliveries.ts';
import { insertEvents } from '../store/events.ts';

/** An event of another service that merchants can receive. */
export type MerchantEvent = EventOf<Exclude<WebhookEventType, 'webhook.test'>>;

/** Appends events to the logs of their accounts, numbered without a gap, and queues a delivery for each subscribed endpoint. */
export async function recordEvents(
  trx: Trx,
  arrived: readonly MerchantEvent[],
  { clock }: Pick<Ports, 'clock'>,
): Promise<void> {
  const events = arrived.map(({ id, kind, created_at, payload }) => ({
    id,
    accountId: payload.account_id as AccountId,
    kind,
    createdAt: new Date(created_at),
    resourceId: payload.resource_id,
    version: payload.version,
    data: JSON.stringify(payload.data),
  }));
  const numbered = await insertEvents(trx, inOrder(events));
  failpoint('webhooks.events_logged');
  await insertDeliveries(trx, numbered, clock.now());
}

/**
 * Events in the order of arrival, except that those of one invoice or payout are ordered by version: numbered together, a
 * later version never gets the smaller number.
 */
export function inOrder<E extends { resourceId: string; version: number }>(arrived: readonly E[]): E[] {
  const byResource = new Map<string, E[]>();
  for (const [resource, events] of Map.groupBy(arrived, (event) => event.resourceId)) {
    byResource.set(
      resource,
      events.toSorted((a, b) => a.version - b.version),
    );
  }
  // Each place of a resource takes the next event of that resource.
  return arrived.map((event) => byResource.get(event.resourceId)?.shift() ?? event);
}
