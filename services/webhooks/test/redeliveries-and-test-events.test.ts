import { describe, expect, test } from '@jest/globals';
import type { Received } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { anAccount, anEndpoint, anEvent, deliverAll, deliveriesOf, ROOM, receiveEvents } from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const opened = await openReceiverFixture();
const { fixture, receiver, arrivedAt, answerWith, statesOf, exhaust, aShop } = opened;
const caller = await opened.caller();

describe('a test event', () => {
  test('is a new event that only this endpoint receives, whatever its event types', async () => {
    const account = anAccount();
    const tested = await anEndpoint(fixture.ports, account, `${receiver.url}/tested`, ['payout.failed']);
    const other = await anEndpoint(fixture.ports, account, `${receiver.url}/untested`, ['webhook.test']);
    await receiveEvents(fixture.ports, anEvent({ account }));
    for (const version of [1, 2]) {
      const { status, body } = await caller.call('POST', `/api/webhooks/${tested.id}/test`, account);
      expect(status).toBe(202);
      expect(body.data.event).toEqual({
        id: expect.stringMatching(/^evt_[0-9a-z]{36}$/),
        event: 'webhook.test',
        created_at: fixture.clock.now().toISOString(),
        sequence: version + 1,
        version,
        data: { webhook_id: tested.id, message: expect.any(String) },
      });
      expect(body.data.delivery_id).toBe(deliveryIdOf(tested.id, body.data.event.id));
      await deliverAll(fixture.ports);
      const arrived = arrivedAt('/tested').at(-1);
      expect(
        new Webhook(tested.secret).verify(arrived?.body ?? '', arrived?.headers as Record<string, string>),
      ).toEqual(body.data.event);
      expect((await caller.call('GET', `/api/events/${body.data.event.id}`, account)).body).toEqual(
        body.data.event,
      );
      const delivery = await caller.call('GET', `/api/deliveries/${body.data.delivery_id}`, account);
      expect(delivery.body).toMatchObject({ status: 'delivered', attempts: [{ number: 1, status: 200 }] });
    }
    // Only the tested endpoint receives it, subscribed or not, and it receives no other event for it.
    expect(await deliveriesOf(fixture.db, other.key)).toEqual([]);
    expect((await caller.call('POST', `/api/webhooks/${other.id}/test`, account)).status).toBe(202);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/untested').map(({ body }) => JSON.parse(body).event)).toEqual(['webhook.test']);
    expect(arrivedAt('/tested')).toHaveLength(2);
    expect((await caller.call('GET', '/api/events', account)).body.meta.last_sequence).toBe(4);
  });

  test('is refused while the endpoint is disabled', async () => {
    const { account, id } = await aShop('/');
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await caller.call('POST', `/api/webhooks/${id}/test`, account)).toEqual({
      status: 409,
      body: expect.objectContaining({ message: 'The webhook is disabled: enable it first.' }),
    });
    expect((await caller.call('GET', '/api/events', account)).body.data).toEqual([]);
  });
});

describe('a redelivery', () => {
  test('sends the same event again at once and starts a new retry cycle', async () => {
    const { account, id, key } = await aShop('/anew');
    const event = anEvent({ account });
    const path = `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    await receiveEvents(fixture.ports, event);
    answerWith(500);
    await exhaust(key);
    expect(await statesOf(key)).toEqual(['exhausted']);
    expect(arrivedAt('/anew')).toHaveLength(10);
    // A success in between: five days of failures alone would disable the endpoint.
    answerWith(200);
    await caller.call('POST', `/api/webhooks/${id}/test`, account);
    await deliverAll(fixture.ports);
    receiver.received.splice(receiver.received.indexOf(arrivedAt('/anew').at(-1) as Received), 1);
    answerWith(500);

    const now = fixture.clock.now().toISOString();
    const asked = await caller.call('POST', `${path}/redeliver`, account);
    expect(asked).toMatchObject({
      status: 202,
      body: { data: { id: deliveryIdOf(id, event.id), status: 'waiting', next_attempt_at: now } },
    });
    // Two requests before it is sent send it once.
    expect(await caller.call('POST', `${path}/redeliver`, account)).toEqual(asked);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/anew')).toHaveLength(11);
    const second = (await caller.call('GET', path, account)).body;
    const wait = Date.parse(second.next_attempt_at) - fixture.clock.now().getTime();
    expect(wait).toBeGreaterThanOrEqual(4_500);
    expect(wait).toBeLessThanOrEqual(5_500);
    await exhaust(key);
    expect(arrivedAt('/anew')).toHaveLength(20);
    expect(new Set(arrivedAt('/anew').map((one) => one.headers['webhook-id'])).size).toBe(1);
    const last = (await caller.call('GET', path, account)).body;
    expect(last).toMatchObject({ status: 'exhausted' });
    expect(last.attempts.at(-1).number).toBe(20);
  });

  test('shows that it is not sent before the end of the pause that its endpoint asked for', async () => {
    const { account, id } = await aShop('/left-alone');
    const [refused, held] = [anEvent({ account }), anEvent({ account, resource: 'inv_2' })];
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
    await receiveEvents(fixture.ports, refused);
    await deliverAll(fixture.ports);
    await receiveEvents(fixture.ports, held);
    const pausedUntil = new Date(fixture.clock.now().getTime() + 2 * 3_600_000).toISOString();
    expect((await caller.call('GET', `/api/webhooks/${id}`, account)).body.paused_until).toBe(pausedUntil);
    const path = `/api/deliveries/${deliveryIdOf(id, refused.id)}`;
    const shown = { status: 'waiting', next_attempt_at: pausedUntil };
    expect(await caller.call('POST', `${path}/redeliver`, account)).toMatchObject({ body: { data: shown } });
    expect((await caller.call('GET', path, account)).body).toMatchObject(shown);
    for (const query of ['', '?status=waiting', '?event=invoice.created']) {
      const { body } = await caller.call('GET', `/api/webhooks/${id}/deliveries${query}`, account);
      expect(body.data).toMatchObject([shown, shown]);
    }
    // A new address ends the pause.
    const url = `${receiver.url}/back`;
    await caller.call('PATCH', `/api/webhooks/${id}`, account, { url });
    const now = fixture.clock.now().toISOString();
    expect((await caller.call('GET', path, account)).body.next_attempt_at).toBe(now);
    answerWith(200);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/back')).toHaveLength(2);
  });

  test('sends a delivered, a cancelled and a waiting delivery again', async () => {
    const { account, id, key } = await aShop('/whatever');
    const event = anEvent({ account });
    const redeliver = () =>
      caller.call('POST', `/api/deliveries/${deliveryIdOf(id, event.id)}/redeliver`, account);
    await receiveEvents(fixture.ports, event);
    await deliverAll(fixture.ports);
    expect((await redeliver()).status).toBe(202);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/whatever')).toHaveLength(2);

    answerWith(500);
    await redeliver();
    await deliverAll(fixture.ports);
    expect(arrivedAt('/whatever')).toHaveLength(3);
    await redeliver();
    await deliverAll(fixture.ports);
    expect(arrivedAt('/whatever')).toHaveLength(4);

    answerWith(200);
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    await caller.call('POST', `/api/webhooks/${id}/enable`, account);
    expect(await statesOf(key)).toEqual(['cancelled']);
    expect((await redeliver()).status).toBe(202);
    await deliverAll(fixture.ports);
    expect(arrivedAt('/whatever')).toHaveLength(5);
    expect(await statesOf(key)).toEqual(['delivered']);
  });

  test('is refused during an attempt, and for a disabled or deleted endpoint', async () => {
    const { account, id, key } = await aShop('/not-now');
    const event = anEvent({ account });
    const path = `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    const redeliver = () => caller.call('POST', `${path}/redeliver`, account);
    await receiveEvents(fixture.ports, event);
    await claimDeliveries(fixture.ports, ROOM);
    expect(await redeliver()).toEqual({
      status: 409,
      body: expect.objectContaining({
        message: 'The delivery is being sent: ask again when that has ended.',
      }),
    });
    expect(await statesOf(key)).toEqual(['sending']);
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await redeliver()).toEqual({
      status: 409,
      body: expect.objectContaining({ message: 'The webhook is disabled: enable it first.' }),
    });
    await caller.call('DELETE', `/api/webhooks/${id}`, account);
    expect(await redeliver()).toEqual({
      status: 409,
      body: expect.objectContaining({
        message: 'The webhook was deleted: read the event with GET /api/events/{id}.',
      }),
    });
    expect((await caller.call('GET', path, account)).status).toBe(200);
  });
});
