import type { Brand, EndpointId, EventId } from '@quittance/shared/ids';

/** One event for one endpoint: `dlv_`, and then the endpoint's id and the event's without their prefixes. */
export type DeliveryId = Brand<string, 'DeliveryId'>;

const form = /^dlv_([0-9a-z]{36})([0-9a-z]{36})$/;

export const deliveryIdOf = (endpoint: EndpointId, event: EventId): DeliveryId =>
  `dlv_${endpoint.slice('whe_'.length)}${event.slice('evt_'.length)}` as DeliveryId;

/** What a delivery's id is made of; undefined when the text is no such id. */
export function partsOfDeliveryId(text: string): { endpoint: EndpointId; event: EventId } | undefined {
  const [matched, endpoint, event] = form.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return { endpoint: `whe_${endpoint}` as EndpointId, event: `evt_${event}` as EventId };
}

/** What becomes of a delivery, as its log names it. */
export const deliveryStates = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
