import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import type { EventOf } from '@quittance/shared/events';
import type { AccountId } from '@quittance/shared/ids';
import type { TellableKind } from '../domain/kinds.ts';
import { inOrder } from '../domain/order.ts';
import type { Ports } from '../ports.ts';
import { insertDeliveries } from '../store-deliveries.ts';
import { insertEvents } from '../store-events.ts';

/** An event of another service that merchants are told of. */
export type ToldEvent = EventOf<Exclude<TellableKind, 'webhook.test'>>;

/** Writes events into their accounts' logs, numbered without a gap, with a delivery for each endpoint that wants them. */
export async function recordEvents(
  { clock }: Pick<Ports, 'clock'>,
  trx: Trx,
  arrived: readonly ToldEvent[],
): Promise<void> {
  const events = arrived.map(({ id, kind, created_at, payload }) => ({
    id,
    accountId: payload.account_id as AccountId,
    kind,
    createdAt: created_at,
    resourceId: payload.resource_id,
    version: payload.version,
    data: JSON.stringify(payload.data),
  }));
  const numbered = await insertEvents(trx, inOrder(events));
  crashPoint('webhooks.events_logged');
  await insertDeliveries(trx, numbered, clock.now());
}
