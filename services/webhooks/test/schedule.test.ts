import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { AccountId, EndpointId, EventId } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { pauses } from '../src/domain/schedule.ts';
import { claimDeliveries, LEASE_MS, takeBackDeliveries } from '../src/operations/claim-deliveries.ts';
import { redeliver } from '../src/operations/deliveries.ts';
import { readEndpoint } from '../src/operations/endpoints.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  type Fixture,
  openFixture,
  ROOM,
  receiveEvents,
} from './fixture.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

let fixture: Fixture;
let receiver: Receiver;
const said: { fields: object; message: string }[] = [];

beforeAll(async () => {
  [fixture, receiver] = await Promise.all([openFixture(), startReceiver()]);
  const info = (fields: object, message: string) => void said.push({ fields, message });
  Object.assign(fixture.ports, {
    logger: Object.assign(Object.create(fixture.ports.logger), { info }) as Logger,
  });
});
afterEach(() => {
  receiver.answer((response) => response.writeHead(200).end());
});
afterAll(async () => {
  await receiver?.close();
  await fixture?.close();
});

const arrivedAt = (path: string) => receiver.received.filter((one) => one.path === path);

test('each attempt has the same id and body, and a timestamp and a signature of its own', async () => {
  const account = anAccount();
  const { secret } = await anEndpoint(fixture.ports, account, `${receiver.url}/signed`);
  receiver.answer((response) => response.writeHead(500).end());
  const event = anEvent({ account });
  await receiveEvents(fixture.ports, event);
  const attempted: Date[] = [];
  for (const pause of [...pauses.slice(1), 0]) {
    attempted.push(fixture.clock.now());
    await deliverAll(fixture.ports);
    fixture.clock.advance(1.11 * pause);
  }
  const arrived = arrivedAt('/signed');
  expect(arrived).toHaveLength(10);
  expect(new Set(arrived.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event.id]));
  expect(new Set(arrived.map(({ body }) => body)).size).toBe(1);
  for (const [i, { headers, body }] of arrived.entries()) {
    const at = attempted[i] ?? new Date(0);
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(at.getTime() / SECOND)));
    // The package checks the timestamp with its own clock, so only the signature is compared.
    const [, signature = ''] = `${headers['webhook-signature']}`.split(',');
    expect(new Webhook(secret).sign(event.id, at, body)).toBe(`v1,${signature}`);
  }
  expect(new Set(arrived.map(({ headers }) => headers['webhook-signature'])).size).toBe(10);
});

async function redeliverFirst(account: AccountId, endpoint: string): Promise<void> {
  const [first] = await fixture.db.rows<{ id: EventId }>(
    'select id from events where account_id = $1 and sequence = 1',
    [account],
  );
  const delivery = deliveryIdOf(endpoint as EndpointId, first?.id as EventId);
  expect((await redeliver(fixture.ports, account, delivery)).ok).toBe(true);
}

const longest = DAY;
test.each<[string, number | undefined]>([
  ['7200', 2 * HOUR],
  ['0', undefined],
  ['00000120', 120 * SECOND],
  ['999999999', longest],
  ['9'.repeat(400), undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['0x10', undefined],
  ['12.5', undefined],
  ['soon', undefined],
  ['120, 7200', undefined],
  ['Fri, 31 Dec 9999 23:59:59 GMT', longest],
  ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ['Fri, 99 Foo 2026 99:99:99 GMT', undefined],
  ['2026-01-01T00:00:00Z', undefined],
])('Retry-After: %s waits for %s ms', async (asked, wait) => {
  const account = anAccount();
  const path = `/after/${encodeURIComponent(asked).slice(0, 50)}`;
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}${path}`);
  receiver.answer((response) => response.writeHead(503, { 'retry-after': asked }).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  const [delivery] = await deliveriesOf(fixture.db, key);
  const waits = (delivery?.due_at.getTime() ?? 0) - fixture.clock.now().getTime();
  if (wait !== undefined) expect(waits).toBe(wait);
  else {
    // An invalid or a shorter value changes nothing.
    expect(waits).toBeGreaterThanOrEqual(0.9 * 5 * SECOND);
    expect(waits).toBeLessThanOrEqual(1.1 * 5 * SECOND);
  }
});

test('a delivery that is always answered with a pause of a day has ten attempts', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/day`);
  const event = anEvent({ account });
  receiver.answer((response, { headers }) =>
    headers['webhook-id'] === event.id
      ? response.writeHead(429, { 'retry-after': '86400' }).end()
      : response.writeHead(200).end(),
  );
  await receiveEvents(fixture.ports, event);
  // Its other deliveries succeed, so that the endpoint stays enabled.
  for (let day = 0; day < 12; day++) {
    await deliverAll(fixture.ports);
    await receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${day}` }));
    fixture.clock.advance(1.2 * DAY);
  }
  const [first] = await deliveriesOf(fixture.db, key);
  expect(first).toMatchObject({ state: 'exhausted', attempts: 10 });
});

test('an endpoint that asks for a pause receives nothing until its end, and then one delivery first', async () => {
  const account = anAccount();
  const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/pause`);
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  const more = (count: number) =>
    receiveEvents(
      fixture.ports,
      ...Array.from({ length: count }, (_, i) => anEvent({ account, resource: `inv_${i}` })),
    );
  const arrived = () => arrivedAt('/pause').length;
  const pausedUntil = async () => {
    const read = await readEndpoint(fixture.ports, account, id);
    return read.ok ? read.value.pausedUntil : undefined;
  };
  receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
  await more(50);
  await deliverAll(fixture.ports);
  // As many as were in flight together.
  expect(arrived()).toBe(1 + 16);
  const until = new Date(fixture.clock.now().getTime() + 2 * HOUR);
  expect(await pausedUntil()).toEqual(until);
  fixture.clock.advance(HOUR);
  await more(5);
  await redeliverFirst(account, id);
  await deliverAll(fixture.ports);
  expect(arrived()).toBe(17);
  const waiting = await deliveriesOf(fixture.db, key);
  expect(waiting.filter(({ attempts }) => attempts === 0)).toHaveLength(34 + 5);

  // It still fails, without Retry-After.
  receiver.answer((response) => response.writeHead(503).end());
  fixture.clock.advance(HOUR);
  expect(await claimDeliveries(fixture.ports, ROOM).then((claimed) => claimed.length)).toBe(1);
  expect(await claimDeliveries(fixture.ports, ROOM)).toEqual([]);
  fixture.clock.advance(LEASE_MS);
  await takeBackDeliveries(fixture.ports);
  expect(await deliver(fixture.ports)).toHaveLength(1);
  expect(await deliver(fixture.ports)).toHaveLength(1);

  receiver.answer((response) => response.writeHead(200).end());
  expect(await deliver(fixture.ports)).toHaveLength(1);
  expect(await pausedUntil()).toBeNull();
  expect((await deliver(fixture.ports)).length).toBeGreaterThan(10);
  fixture.clock.advance(HOUR);
  await deliverAll(fixture.ports);
  expect(new Set((await deliveriesOf(fixture.db, key)).map(({ state }) => state))).toEqual(
    new Set(['delivered']),
  );
});

test('a success restarts the five days, after which the endpoint is disabled with a reason', async () => {
  const account = anAccount();
  const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/five`);
  const endpoint = async () => {
    const read = await readEndpoint(fixture.ports, account, id);
    if (!read.ok) throw new Error(read.refusal);
    return read.value;
  };
  let events = 0;
  const fails = async (days: number) => {
    receiver.answer((response) => response.writeHead(500).end());
    for (let half = 0; half < 2 * days; half++) {
      await receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${events++}` }));
      await deliverAll(fixture.ports);
      fixture.clock.advance(12 * HOUR);
    }
  };
  await fails(4.5);
  expect((await endpoint()).enabled).toBe(true);

  receiver.answer((response) => response.writeHead(204).end());
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'good' }));
  await deliverAll(fixture.ports);
  // Nine days of failures with one success.
  await fails(4.5);
  await deliverAll(fixture.ports);
  expect((await endpoint()).enabled).toBe(true);

  said.length = 0;
  await fails(1);
  expect(await endpoint()).toMatchObject({
    enabled: false,
    disabledReason: 'No delivery has succeeded for 5 days.',
  });
  expect(said).toContainEqual({
    fields: { endpoint: id, why: 'No delivery has succeeded for 5 days.' },
    message: 'disabled an endpoint',
  });
  const told = arrivedAt('/five').length;
  await fails(1);
  expect(arrivedAt('/five')).toHaveLength(told);
});
