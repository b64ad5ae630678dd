import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { pauses } from '../src/domain/schedule.ts';
import { attemptDelivery, recordAttempts } from '../src/operations/attempt-delivery.ts';
import { cancelNextWaiting } from '../src/operations/cancel-deliveries.ts';
import { claimDeliveries, LEASE_MS, takeBackDeliveries } from '../src/operations/claim-deliveries.ts';
import { deleteEndpoint, readEndpoint } from '../src/operations/endpoints.ts';
import { createWebhookSender } from '../src/webhook-sender.ts';
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

let fixture: Fixture;
let receiver: Receiver;

beforeAll(async () => {
  [fixture, receiver] = await Promise.all([openFixture(), startReceiver()]);
});
afterEach(() => {
  receiver.answer((response) => response.writeHead(200).end());
});
afterAll(async () => {
  await receiver?.close();
  await fixture?.close();
});

/** The requests to a path of the receiver. Each test has its own path. */
const arrivedAt = (path: string) => receiver.received.filter((one) => one.path === path);

test('a delivery is signed by Standard Webhooks, and its body is the documented envelope', async () => {
  const account = anAccount();
  const { secret } = await anEndpoint(fixture.ports, account, `${receiver.url}/signed?shop=1`);
  const data = { id: 'inv_9', amount: '1.5', note: 'Grüße "quoted" \\ \u2028' };
  const event = anEvent({ account, kind: 'invoice.paid', data });
  await receiveEvents(fixture.ports, event);
  await deliver(fixture.ports);

  const [one] = arrivedAt('/signed?shop=1');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const body = new Webhook(secret).verify(one?.body ?? '', one?.headers as Record<string, string>);
  expect(body).toEqual({
    id: event.id,
    event: 'invoice.paid',
    created_at: event.created_at,
    sequence: 1,
    version: 1,
    data,
  });
  expect(one?.headers).toMatchObject({ 'webhook-id': event.id, 'content-type': 'application/json' });
  expect(() => new Webhook(secret).verify(`${one?.body} `, one?.headers as Record<string, string>)).toThrow();
});

test('a failed delivery is retried after its pause, with the same id and body', async () => {
  const account = anAccount();
  const { key, secret } = await anEndpoint(fixture.ports, account, `${receiver.url}/again`);
  receiver.answer((response) => response.writeHead(500).end('out of order'));
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  expect(arrivedAt('/again')).toHaveLength(1);

  fixture.clock.advance(4.4 * SECOND);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/again')).toHaveLength(1);

  receiver.answer((response) => response.writeHead(204).end());
  fixture.clock.advance(1.2 * SECOND);
  await deliverAll(fixture.ports);
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

test('the service’s role cannot change the log of attempts', async () => {
  await expect(fixture.db.rows('update attempts set ms = 0')).rejects.toThrow('permission denied');
});

test('a delivery has ten attempts over 75 hours, each at its time', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/never`);
  receiver.answer((response) => response.writeHead(503).end());
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

test('a restart between attempts loses nothing', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/restart`);
  receiver.answer((response) => response.writeHead(500).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);

  // A new process has only the database.
  const sender = createWebhookSender({ publicOnly: false });
  receiver.answer((response) => response.writeHead(200).end());
  fixture.clock.advance(6 * SECOND);
  await deliverAll({ ...fixture.ports, sender });
  await sender.close();
  const ids = arrivedAt('/restart').map((one) => one.headers['webhook-id']);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
});

test('a delivery that was sent and not recorded is sent again with the same id, and the late record is refused', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/unrecorded`);
  await receiveEvents(fixture.ports, anEvent({ account }));
  const claimed = await claimDeliveries(fixture.ports, ROOM);
  const late = await Promise.all(claimed.map((delivery) => attemptDelivery(fixture.ports, delivery)));

  expect(await takeBackDeliveries(fixture.ports)).toBe(0);
  expect(await deliverAll(fixture.ports)).toHaveLength(0);
  fixture.clock.advance(LEASE_MS);
  expect(await takeBackDeliveries(fixture.ports)).toBe(1);
  const again = await claimDeliveries(fixture.ports, ROOM);
  const attempts = await Promise.all(again.map((delivery) => attemptDelivery(fixture.ports, delivery)));

  // The first sender was only slow: its claim has expired.
  await recordAttempts(fixture.ports, late);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'sending', attempts: 0 }]);
  await recordAttempts(fixture.ports, attempts);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  const ids = arrivedAt('/unrecorded').map((one) => one.headers['webhook-id']);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

test('deliveries of an endpoint start in the order of their sequence numbers', async () => {
  const account = anAccount();
  await anEndpoint(fixture.ports, account, `${receiver.url}/order`);
  for (let i = 0; i < 5; i++) {
    await receiveEvents(
      fixture.ports,
      ...Array.from({ length: 5 }, (_, j) => anEvent({ account, resource: `inv_${i}_${j}` })),
    );
  }
  const begun: string[] = [];
  for (;;) {
    const claimed = await claimDeliveries(fixture.ports, ROOM);
    if (claimed.length === 0) break;
    begun.push(...claimed.map((delivery) => delivery.sequence));
    await recordAttempts(
      fixture.ports,
      await Promise.all(claimed.map((one) => attemptDelivery(fixture.ports, one))),
    );
  }
  expect(begun).toEqual(Array.from({ length: 25 }, (_, i) => String(i + 1)));
});

test('an endpoint never has more attempts in flight than its limit, and each that ends frees a slot', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/slots`);
  await receiveEvents(
    fixture.ports,
    ...Array.from({ length: 40 }, (_, i) => anEvent({ account, resource: `inv_${i}` })),
  );
  // An endpoint that has never accepted a delivery may never answer.
  const trial = await claimDeliveries(fixture.ports, ROOM);
  expect(trial).toHaveLength(2);
  await recordAttempts(
    fixture.ports,
    await Promise.all(trial.map((one) => attemptDelivery(fixture.ports, one))),
  );
  const first = await claimDeliveries(fixture.ports, ROOM);
  expect(first).toHaveLength(16);
  expect(await claimDeliveries(fixture.ports, ROOM)).toHaveLength(0);
  // A new event does not free a slot.
  await receiveEvents(fixture.ports, anEvent({ account }));
  expect(await claimDeliveries(fixture.ports, ROOM)).toHaveLength(0);

  const three = await Promise.all(first.slice(0, 3).map((one) => attemptDelivery(fixture.ports, one)));
  await recordAttempts(fixture.ports, three);
  expect(await claimDeliveries(fixture.ports, ROOM)).toHaveLength(3);
  fixture.clock.advance(LEASE_MS);
  await takeBackDeliveries(fixture.ports);
  await deliverAll(fixture.ports);
  const rows = await deliveriesOf(fixture.db, key);
  expect(rows).toHaveLength(41);
  expect(rows.every((row) => row.state === 'delivered')).toBe(true);
});

test('the capacity of a claim is shared evenly among the endpoints', async () => {
  const account = anAccount();
  const keys = [];
  for (let i = 0; i < 4; i++)
    keys.push((await anEndpoint(fixture.ports, account, `${receiver.url}/share`)).key);
  await receiveEvents(
    fixture.ports,
    ...Array.from({ length: 20 }, (_, i) => anEvent({ account, resource: `inv_${i}` })),
  );
  const claimed = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 8 });
  expect(claimed.map((one) => one.endpointKey).toSorted()).toEqual([...keys, ...keys].toSorted());
  await recordAttempts(
    fixture.ports,
    await Promise.all(claimed.map((one) => attemptDelivery(fixture.ports, one))),
  );
  await deliverAll(fixture.ports);
  expect(arrivedAt('/share')).toHaveLength(80);
});

test('a redirect counts as a failure and is not followed', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/moved`);
  receiver.answer((response) => response.writeHead(307, { location: `${receiver.url}/canary` }).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  expect(arrivedAt('/canary')).toHaveLength(0);
});

test('410 disables the endpoint with a reason and cancels its waiting deliveries', async () => {
  const account = anAccount();
  const { key, id } = await anEndpoint(fixture.ports, account, `${receiver.url}/gone`);
  receiver.answer((response) => response.writeHead(500).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  receiver.answer((response) => response.writeHead(410).end());
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_2' }));
  await deliverAll(fixture.ports);

  while ((await cancelNextWaiting(fixture.ports)) > 0);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([
    { state: 'cancelled', attempts: 1 },
    { state: 'exhausted', attempts: 1 },
  ]);
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({
    value: { enabled: false, disabledReason: 'The endpoint answered 410 Gone.' },
  });
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_3' }));
  fixture.clock.advance(HOUR);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/gone')).toHaveLength(2);
});

test('five days of failures without a success disable the endpoint', async () => {
  const account = anAccount();
  const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/dead`);
  receiver.answer((response) => response.writeHead(500).end());
  for (let day = 0; day < 5; day++) {
    await receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${day}` }));
    await deliverAll(fixture.ports);
    fixture.clock.advance(24 * HOUR);
  }
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({ value: { enabled: true } });
  await deliverAll(fixture.ports);
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({
    value: { enabled: false, disabledReason: 'No delivery has succeeded for 5 days.' },
  });
});

test.each([429, 503])('Retry-After of an answer %i is respected', async (status) => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/later`);
  receiver.answer((response) => response.writeHead(status, { 'retry-after': '600' }).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  const [delivery] = await deliveriesOf(fixture.db, key);
  expect((delivery?.due_at.getTime() ?? 0) - fixture.clock.now().getTime()).toBe(600 * SECOND);
});

test('a deleted endpoint is sent nothing more, and its secret is removed', async () => {
  const account = anAccount();
  const { key, id } = await anEndpoint(fixture.ports, account, `${receiver.url}/deleted`);
  receiver.answer((response) => response.writeHead(500).end());
  await receiveEvents(fixture.ports, anEvent({ account }), anEvent({ account, resource: 'inv_2' }));
  const claimed = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 1 });
  expect(await deleteEndpoint(fixture.ports, account, id)).toMatchObject({ ok: true });
  // This attempt was in flight: its failure is recorded, and it is not retried.
  await recordAttempts(
    fixture.ports,
    await Promise.all(claimed.map((one) => attemptDelivery(fixture.ports, one))),
  );
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_3' }));
  fixture.clock.advance(HOUR);
  await takeBackDeliveries(fixture.ports);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/deleted')).toHaveLength(1);
  while ((await cancelNextWaiting(fixture.ports)) > 0);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'cancelled', attempts: 1 }]);
  expect(await fixture.db.rows('select 1 from endpoint_secrets where endpoint_key = $1', [key])).toHaveLength(
    0,
  );
});

test('an endpoint receives only its event types, and only events of its account', async () => {
  const account = anAccount();
  await anEndpoint(fixture.ports, account, `${receiver.url}/kinds`, ['payout.failed', 'invoice.paid']);
  await receiveEvents(
    fixture.ports,
    anEvent({ account, kind: 'invoice.created' }),
    anEvent({ account, kind: 'payout.failed', resource: '7' }),
    anEvent({ kind: 'payout.failed' }),
    anEvent({ account, kind: 'invoice.paid', version: 2 }),
  );
  await deliverAll(fixture.ports);
  const told = arrivedAt('/kinds').map((one) => JSON.parse(one.body));
  expect(
    told.map(({ event, sequence }) => ({ event, sequence })).toSorted((a, b) => a.sequence - b.sequence),
  ).toEqual([
    { event: 'payout.failed', sequence: 2 },
    { event: 'invoice.paid', sequence: 3 },
  ]);
});

test('an answer that Postgres cannot store unchanged is recorded all the same', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/binary`);
  receiver.answer((response) => response.writeHead(500).end(Buffer.from([0, 255, 0xe2, 0x82])));
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  expect(await fixture.db.rows('select status, answer from attempts where endpoint_key = $1', [key])).toEqual(
    [{ status: 500, answer: '\ufffd\ufffd\ufffd' }],
  );
});

test('every attempt at an endpoint whose address has become private is refused', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(
    fixture.ports,
    account,
    `${receiver.url.replace(/^http:/, 'https:')}/private`,
  );
  await receiveEvents(fixture.ports, anEvent({ account }));
  const sender = createWebhookSender({ publicOnly: true });
  await deliverAll({ ...fixture.ports, sender });
  await sender.close();
  expect(arrivedAt('/private')).toHaveLength(0);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  expect(await fixture.db.rows('select failure from attempts where endpoint_key = $1', [key])).toEqual([
    { failure: 'private_address' },
  ]);
});

test('an attempt that this process stopped is released and not counted', async () => {
  const account = anAccount();
  const { key } = await anEndpoint(fixture.ports, account, `${receiver.url}/stopped`);
  const arrived = new Promise<void>((resolve) => receiver.answer(() => resolve()));
  await receiveEvents(fixture.ports, anEvent({ account }));
  const sender = createWebhookSender({ publicOnly: false });
  const [claimed] = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 1 });
  const sending = attemptDelivery({ ...fixture.ports, sender }, claimed as NonNullable<typeof claimed>);
  await arrived;
  await sender.close();
  await recordAttempts(fixture.ports, [await sending]);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  receiver.answer((response) => response.writeHead(200).end());
  await deliverAll(fixture.ports);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});
