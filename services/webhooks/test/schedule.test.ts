import { expect, test } from '@jest/globals';
import type { AccountId, EndpointId, EventId } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { pauses } from '../src/domain/outcome.ts';
import { claimDeliveries, LEASE_MS, takeBackDeliveries } from '../src/operations/claim-deliveries.ts';
import { redeliver } from '../src/operations/deliveries.ts';
import { readEndpoint } from '../src/operations/endpoints.ts';
import { createWebhookSender } from '../src/webhook-sender.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  ROOM,
  receiveEvents,
  receiveMany,
} from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

const { fixture, receiver, arrivedAt, answerWith, aShop } = await openReceiverFixture();
const said: { fields: object; message: string }[] = [];
const info = (fields: object, message: string) => void said.push({ fields, message });
Object.assign(fixture.ports, {
  logger: Object.assign(Object.create(fixture.ports.logger), { info }) as Logger,
});

test('a failed delivery is retried after its pause with the same id and body, also after a restart', async () => {
  const { account, key, secret } = await aShop('/again');
  answerWith(500, 'out of order');
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  expect(arrivedAt('/again')).toHaveLength(1);

  fixture.clock.advance(4.4 * SECOND);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/again')).toHaveLength(1);

  // A new process has only the database.
  const sender = createWebhookSender({ publicOnly: false });
  answerWith(204);
  fixture.clock.advance(1.2 * SECOND);
  await deliverAll({ ...fixture.ports, sender });
  await sender.close();
  expect(arrivedAt('/again')).toHaveLength(2);
  const [first, second] = arrivedAt('/again');
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  new Webhook(secret).verify(second?.body ?? '', second?.headers as Record<string, string>);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  expect(
    await fixture.db.rows(
      'select number, status, failure, answer from attempts where endpoint_key = $1 order by number',
      [key],
    ),
  ).toEqual([
    { number: 1, status: 500, failure: null, answer: 'out of order' },
    { number: 2, status: 204, failure: null, answer: '' },
  ]);
});

test('a delivery has ten attempts over 75 hours, each at its time', async () => {
  const { account, key } = await aShop('/never');
  answerWith(503);
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  let due = fixture.clock.now();
  for (const [attempt, pause] of [...pauses.entries()].slice(1)) {
    const [delivery] = await deliveriesOf(fixture.db, key);
    expect(delivery).toMatchObject({ state: 'waiting', attempts: attempt });
    const waited = (delivery?.due_at.getTime() ?? 0) - due.getTime();
    expect(waited).toBeGreaterThanOrEqual(0.9 * pause);
    expect(waited).toBeLessThanOrEqual(1.1 * pause);
    fixture.clock.advance(waited - 1);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/never')).toHaveLength(attempt);
    fixture.clock.advance(1);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/never')).toHaveLength(attempt + 1);
    due = fixture.clock.now();
  }
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'exhausted', attempts: 10 }]);
  fixture.clock.advance(100 * HOUR);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/never')).toHaveLength(10);
});

test('each attempt has the same id and body, and a timestamp and a signature of its own', async () => {
  const { account, secret } = await aShop('/signed');
  answerWith(500);
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
test.each<[asked: string, wait: number | undefined, status?: number]>([
  ['600', 600 * SECOND, 429],
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
])('Retry-After: %s waits for %s ms', async (asked, wait, status = 503) => {
  const account = anAccount();
  const path = `/after/${encodeURIComponent(asked).slice(0, 50)}`;
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}${path}`);
  receiver.answer((response) => response.writeHead(status, { 'retry-after': asked }).end());
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
  const { account, key } = await aShop('/day');
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
  const { account, id, key } = await aShop('/pause');
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  const more = (count: number) => receiveMany(fixture.ports, account, count);
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
  answerWith(503);
  fixture.clock.advance(HOUR);
  expect(await claimDeliveries(fixture.ports, ROOM).then((claimed) => claimed.length)).toBe(1);
  expect(await claimDeliveries(fixture.ports, ROOM)).toEqual([]);
  fixture.clock.advance(LEASE_MS);
  await takeBackDeliveries(fixture.ports);
  expect(await deliver(fixture.ports)).toHaveLength(1);
  expect(await deliver(fixture.ports)).toHaveLength(1);

  answerWith(200);
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
  const { account, id } = await aShop('/five');
  const endpoint = async () => {
    const read = await readEndpoint(fixture.ports, account, id);
    if (!read.ok) throw new Error(read.refusal);
    return read.value;
  };
  let events = 0;
  const fails = async (days: number) => {
    answerWith(500);
    for (let half = 0; half < 2 * days; half++) {
      await receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${events++}` }));
      await deliverAll(fixture.ports);
      fixture.clock.advance(12 * HOUR);
    }
  };
  await fails(4.5);
  expect((await endpoint()).enabled).toBe(true);

  answerWith(204);
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
