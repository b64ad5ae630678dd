import { expect, test } from '@jest/globals';
import { newEndpointId, newEventId } from '@quittance/shared/ids';
import { deliveryIdOf, partsOfDeliveryId } from './delivery.ts';

test('the id of a delivery contains the ids of its endpoint and event', () => {
  const endpoint = newEndpointId();
  const event = newEventId();
  const id = deliveryIdOf(endpoint, event);
  expect(id).toMatch(/^dlv_[0-9a-z]{72}$/);
  expect(partsOfDeliveryId(id)).toEqual({ endpoint, event });
});

test.each([
  '',
  'dlv_',
  `dlv_${'0'.repeat(71)}`,
  `dlv_${'0'.repeat(73)}`,
  `dlv_${'0'.repeat(71)}-`,
  `evt_${'0'.repeat(72)}`,
  ` dlv_${'0'.repeat(72)}`,
  `dlv_${'0'.repeat(72)}\n`,
])('%j is not the id of a delivery', (text) => {
  expect(partsOfDeliveryId(text)).toBeUndefined();
});
