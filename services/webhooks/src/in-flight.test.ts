import { expect, test } from '@jest/globals';
import { trackInFlight } from './in-flight.ts';
import type { ClaimedDelivery, Pool } from './operations/claim-deliveries.ts';

const aDelivery = (endpointKey: string, pool: Pool) => ({ endpointKey, pool }) as ClaimedDelivery;

test('attempts of the slow pool take no capacity of the fast pool', () => {
  const inFlight = trackInFlight(() => 0);
  expect(inFlight.capacity()).toMatchObject({ fast: 1_024, slow: 512 });
  for (let i = 0; i < 600; i++) inFlight.add(aDelivery(`${i}`, 'slow'));
  expect(inFlight.capacity()).toMatchObject({ fast: 1_024, slow: 0 });
  const fast = aDelivery('good', 'fast');
  inFlight.add(fast);
  expect(inFlight.capacity().fast).toBe(1_023);
  inFlight.remove(fast);
  expect(inFlight.capacity().fast).toBe(1_024);
  expect(inFlight.size).toBe(600);
});

test('an attempt that takes a second leaves the fast pool, and its endpoint is slow until the attempt ends', () => {
  let now = 0;
  const inFlight = trackInFlight(() => now);
  const hanging = Array.from({ length: 700 }, (_, i) => aDelivery(`${i % 7}`, 'fast'));
  for (const delivery of hanging) inFlight.add(delivery);
  now = 999;
  expect(inFlight.capacity()).toEqual({ fast: 324, slow: 512, slowEndpoints: [] });
  now = 1_000;
  expect(inFlight.capacity()).toEqual({
    fast: 1_024,
    slow: 0,
    slowEndpoints: ['0', '1', '2', '3', '4', '5', '6'],
  });
  for (const delivery of hanging) inFlight.remove(delivery);
  expect(inFlight.capacity()).toEqual({ fast: 1_024, slow: 512, slowEndpoints: [] });
});

test('a process never has more than 2,048 attempts in flight', () => {
  let now = 0;
  const inFlight = trackInFlight(() => now);
  for (let i = 0; i < 2_000; i++) inFlight.add(aDelivery(`${i}`, 'fast'));
  now = 2_000;
  expect(inFlight.capacity()).toMatchObject({ fast: 48, slow: 0 });
});

test('only attempts that began long enough ago have their claims renewed', () => {
  let now = 0;
  const inFlight = trackInFlight(() => now);
  const [first, second] = [aDelivery('1', 'fast'), aDelivery('2', 'slow')];
  inFlight.add(first);
  now = 600;
  inFlight.add(second);
  now = 1_000;
  expect(inFlight.olderThan(1_000)).toEqual([first]);
  now = 1_600;
  expect(inFlight.olderThan(1_000)).toEqual([first, second]);
  inFlight.remove(first);
  expect(inFlight.olderThan(1_000)).toEqual([second]);
});
