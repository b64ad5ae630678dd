import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/shared/logger';
import { capacityFor, createAttemptWriter, startedBefore } from './delivery-worker.ts';
import type { Attempt } from './operations/attempt-delivery.ts';
import type { ClaimedDelivery, Pool } from './operations/claim-deliveries.ts';

const logger = createLogger('webhooks', 'silent');
const aDelivery = (endpointKey: string, pool: Pool) => ({ endpointKey, pool }) as ClaimedDelivery;
/** Deliveries whose attempts began at 0. */
const inFlightOf = (...deliveries: ClaimedDelivery[]) => new Map(deliveries.map((one) => [one, 0]));

test('attempts of the slow pool take no capacity of the fast pool', () => {
  expect(capacityFor(new Map(), 0)).toMatchObject({ fast: 1_024, slow: 512 });
  const inFlight = inFlightOf(...Array.from({ length: 600 }, (_, i) => aDelivery(`${i}`, 'slow')));
  expect(capacityFor(inFlight, 0)).toMatchObject({ fast: 1_024, slow: 0 });
  const fast = aDelivery('good', 'fast');
  inFlight.set(fast, 0);
  expect(capacityFor(inFlight, 0).fast).toBe(1_023);
  inFlight.delete(fast);
  expect(capacityFor(inFlight, 0).fast).toBe(1_024);
});

test('an attempt that takes a second leaves the fast pool, and its endpoint is slow until the attempt ends', () => {
  const hanging = Array.from({ length: 700 }, (_, i) => aDelivery(`${i % 7}`, 'fast'));
  const inFlight = inFlightOf(...hanging);
  expect(capacityFor(inFlight, 999)).toEqual({ fast: 324, slow: 512, slowEndpoints: [] });
  expect(capacityFor(inFlight, 1_000)).toEqual({
    fast: 1_024,
    slow: 0,
    slowEndpoints: ['0', '1', '2', '3', '4', '5', '6'],
  });
  for (const delivery of hanging) inFlight.delete(delivery);
  expect(capacityFor(inFlight, 1_000)).toEqual({ fast: 1_024, slow: 512, slowEndpoints: [] });
});

test('a process never has more than 2,048 attempts in flight', () => {
  const inFlight = inFlightOf(...Array.from({ length: 2_000 }, (_, i) => aDelivery(`${i}`, 'fast')));
  expect(capacityFor(inFlight, 2_000)).toMatchObject({ fast: 48, slow: 0 });
});

test('only attempts that began long enough ago have their claims renewed', () => {
  const [first, second] = [aDelivery('1', 'fast'), aDelivery('2', 'slow')];
  const inFlight = new Map([
    [first, 0],
    [second, 600],
  ]);
  expect(startedBefore(inFlight, 0)).toEqual([first]);
  expect(startedBefore(inFlight, 600)).toEqual([first, second]);
  inFlight.delete(first);
  expect(startedBefore(inFlight, 600)).toEqual([second]);
});

const anAttempt = (id: string) => ({ delivery: { id } }) as Attempt;
const idsOf = (attempts: readonly Attempt[]) => attempts.map(({ delivery }) => `${delivery.id}`);

test('an attempt that cannot be recorded delays no other and is retried', async () => {
  let now = 0;
  const poisoned = new Set(['3']);
  const written: string[] = [];
  const record = async (attempts: readonly Attempt[]): Promise<void> => {
    if (attempts.some(({ delivery }) => poisoned.has(delivery.id))) throw new Error('too slow');
    written.push(...idsOf(attempts));
  };
  const writer = createAttemptWriter(record, logger, () => now);
  for (let i = 0; i < 10; i++) writer.add(anAttempt(`${i}`));
  await expect(writer.step()).rejects.toThrow('too slow');
  expect(idsOf(await writer.step())).toEqual(['0', '1', '2']);
  // New attempts are recorded together, without the one that failed.
  writer.add(anAttempt('new'));
  expect(idsOf(await writer.step())).toEqual(['new']);
  now += 1_000;
  expect(idsOf(await writer.step())).toEqual(['4', '5', '6', '7', '8', '9']);
  expect(await writer.step()).toEqual([]);
  expect(writer.size()).toBe(1);
  poisoned.clear();
  now += 1_000;
  expect(idsOf(await writer.step())).toEqual(['3']);
  expect(writer.size()).toBe(0);
  expect(written).toHaveLength(11);
});

test('a batch has at most 500 attempts', async () => {
  const writer = createAttemptWriter(async () => {}, logger);
  for (let i = 0; i < 501; i++) writer.add(anAttempt(`${i}`));
  expect([(await writer.step()).length, (await writer.step()).length]).toEqual([500, 1]);
});
