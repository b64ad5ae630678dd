import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { attemptDelivery, recordAttempts } from '../src/operations/attempt-delivery.ts';
import { claimDeliveries, LEASE_MS, takeBackDeliveries } from '../src/operations/claim-deliveries.ts';
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
  send,
} from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const { fixture, receiver, arrivedAt, answerWith, aShop } = await openReceiverFixture();

test('a delivery is signed by Standard Webhooks, and its body is the documented envelope', async () => {
  const { account, secret } = await aShop('/signed?shop=1');
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

test('a delivery that was sent and not recorded is sent again with the same id, and the late record is refused', async () => {
  const { account, key } = await aShop('/unrecorded');
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

test('an attempt that ends after its delivery was claimed again does not end the later claim', async () => {
  const { account, key } = await aShop('/twice');
  await receiveEvents(fixture.ports, anEvent({ account }));
  const claim = async () =>
    (await claimDeliveries(fixture.ports, ROOM)).find(({ endpointKey }) => endpointKey === key);
  const first = await claim();
  fixture.clock.advance(LEASE_MS);
  await takeBackDeliveries(fixture.ports);
  const second = await claim();
  if (first === undefined || second === undefined) throw new Error('not claimed twice');
  const late = await attemptDelivery(fixture.ports, first);
  answerWith(500);
  const present = await attemptDelivery(fixture.ports, second);
  await recordAttempts(fixture.ports, [late, present]);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  expect(
    await fixture.db.rows(
      'select consecutive_failures, has_succeeded from endpoint_queues where endpoint_key = $1',
      [key],
    ),
  ).toEqual([{ consecutive_failures: 1, has_succeeded: false }]);
  fixture.clock.advance(6_000);
  answerWith(200);
  await deliverAll(fixture.ports);
});

test('deliveries of an endpoint start in the order of their sequence numbers', async () => {
  const { account } = await aShop('/order');
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
    await send(fixture.ports, claimed);
  }
  expect(begun).toEqual(Array.from({ length: 25 }, (_, i) => String(i + 1)));
});

test('an endpoint never has more attempts in flight than its limit, and each that ends frees a slot', async () => {
  const { account, key } = await aShop('/slots');
  await receiveMany(fixture.ports, account, 40);
  // An endpoint that has never accepted a delivery may never answer.
  const trial = await claimDeliveries(fixture.ports, ROOM);
  expect(trial).toHaveLength(2);
  await send(fixture.ports, trial);
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
  await receiveMany(fixture.ports, account, 20);
  const claimed = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 8 });
  expect(claimed.map((one) => one.endpointKey).toSorted()).toEqual([...keys, ...keys].toSorted());
  await send(fixture.ports, claimed);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/share')).toHaveLength(80);
});

test('a redirect counts as a failure and is not followed', async () => {
  const { account, key } = await aShop('/moved');
  receiver.answer((response) => response.writeHead(307, { location: `${receiver.url}/canary` }).end());
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  expect(arrivedAt('/canary')).toHaveLength(0);
});

test('an endpoint receives only its event types, and only events of its account', async () => {
  const { account } = await aShop('/kinds', ['payout.failed', 'invoice.paid']);
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
  const { account, key } = await aShop('/binary');
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
  const { account, key } = await aShop('/stopped');
  const arrived = new Promise<void>((resolve) => receiver.answer(() => resolve()));
  await receiveEvents(fixture.ports, anEvent({ account }));
  const sender = createWebhookSender({ publicOnly: false });
  const [claimed] = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 1 });
  const sending = attemptDelivery({ ...fixture.ports, sender }, claimed as NonNullable<typeof claimed>);
  await arrived;
  await sender.close();
  await recordAttempts(fixture.ports, [await sending]);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  answerWith(200);
  await deliverAll(fixture.ports);
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});
