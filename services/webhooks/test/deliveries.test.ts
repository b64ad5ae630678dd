import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { recordAttempts } from '../src/operations/attempt-delivery.ts';
import { LEASE_MS } from '../src/operations/claim-deliveries.ts';
import { anEvent, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { db, clock, ports, receiver, answerWith, receive, claim, attempt, send } = fixture;
const { deliver, deliverAll, deliveriesOf, takeBack, receiveMany, aShop, arrivedAt } = fixture;
const { queuesOf } = fixture;

test('a delivery is signed by Standard Webhooks, and its body is the documented envelope', async () => {
  const { account, secret } = await aShop('/signed?shop=1');
  const data = { id: 'inv_9', amount: '1.5', note: 'Grüße "quoted" \\ \u2028' };
  const event = anEvent({ account, kind: 'invoice.paid', data });
  await receive(event);
  await deliver();

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
  await receive(anEvent({ account }));
  const late = await attempt(await claim());

  expect(await takeBack()).toBe(0);
  expect(await deliverAll()).toHaveLength(0);
  clock.advance(LEASE_MS);
  expect(await takeBack()).toBe(1);
  answerWith(500);
  const present = await attempt(await claim());

  // The first sender was only slow: its claim has expired.
  await recordAttempts(ports, late);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'sending', attempts: 0 }]);
  // Nor does it end the later claim when both are recorded together.
  await recordAttempts(ports, [...late, ...present]);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);
  expect(await queuesOf(key)).toMatchObject([{ consecutive_failures: 1, has_succeeded: false }]);
  clock.advance(6_000);
  answerWith(200);
  await deliverAll();
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  const ids = arrivedAt('/unrecorded').map((one) => one.headers['webhook-id']);
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(1);
});

test('deliveries of an endpoint start in the order of their sequence numbers', async () => {
  const { account } = await aShop('/order');
  for (let i = 0; i < 5; i++) await receiveMany(account, 5);
  const begun: string[] = [];
  for (;;) {
    const claimed = await claim();
    if (claimed.length === 0) break;
    begun.push(...claimed.map((delivery) => delivery.sequence));
    await send(claimed);
  }
  expect(begun).toEqual(Array.from({ length: 25 }, (_, i) => String(i + 1)));
});

test('an endpoint never has more attempts in flight than its limit, and each that ends frees a slot', async () => {
  const { account, key } = await aShop('/slots');
  await receiveMany(account, 40);
  // An endpoint that has never accepted a delivery may never answer.
  const trial = await claim();
  expect(trial).toHaveLength(2);
  await send(trial);
  const first = await claim();
  expect(first).toHaveLength(16);
  expect(await claim()).toHaveLength(0);
  // A new event does not free a slot.
  await receive(anEvent({ account }));
  expect(await claim()).toHaveLength(0);

  await send(first.slice(0, 3));
  expect(await claim()).toHaveLength(3);
  clock.advance(LEASE_MS);
  await takeBack();
  await deliverAll();
  const rows = await deliveriesOf(key);
  expect(rows).toHaveLength(41);
  expect(rows.every((row) => row.state === 'delivered')).toBe(true);
});

test('an endpoint receives only its event types, and only events of its account', async () => {
  const { account } = await aShop('/kinds', ['payout.failed', 'invoice.paid']);
  await receive(
    anEvent({ account, kind: 'invoice.created' }),
    anEvent({ account, kind: 'payout.failed', resource: '7' }),
    anEvent({ kind: 'payout.failed' }),
    anEvent({ account, kind: 'invoice.paid', version: 2 }),
  );
  await deliverAll();
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
  await receive(anEvent({ account }));
  await deliverAll();
  expect(await db.rows('select status, answer from attempts where endpoint_key = $1', [key])).toEqual([
    { status: 500, answer: '\ufffd\ufffd\ufffd' },
  ]);
});
