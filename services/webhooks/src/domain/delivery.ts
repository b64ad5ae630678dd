import type { Brand, EndpointId, EventId } from '@quittance/shared/ids';

/** `dlv_`, then the ids of the endpoint and of the event without their prefixes. */
export type DeliveryId = Brand<string, 'DeliveryId'>;

/** The form of the id of a delivery. */
export const deliveryIdForm = /^dlv_([0-9a-z]{36})([0-9a-z]{36})$/;

export const deliveryIdOf = (endpoint: EndpointId, event: EventId): DeliveryId =>
  `dlv_${endpoint.slice('whe_'.length)}${event.slice('evt_'.length)}` as DeliveryId;

/** The ids in a delivery's id; undefined when the text is not such an id. */
export function partsOfDeliveryId(text: string): { endpoint: EndpointId; event: EventId } | undefined {
  const [matched, endpoint, event] = deliveryIdForm.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return { endpoint: `whe_${endpoint}` as EndpointId, event: `evt_${event}` as EventId };
}

/** The states of a delivery, as the API names them. */
export const deliveryStates = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
