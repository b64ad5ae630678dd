import { describe, expect, test } from '@jest/globals';
import type { Received } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { anAccount, anEvent, conflict, HOUR, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { clock, receiver, answerWith, call, receive, anEndpoint, claim, deliverAll } = fixture;
const { deliveriesOf, aShop, arrivedAt, statesOf } = fixture;

describe('a test event', () => {
  test('is a new event that only this endpoint receives, whatever its event types', async () => {
    const account = anAccount();
    const tested = await anEndpoint(account, '/tested', ['payout.failed']);
    const other = await anEndpoint(account, '/untested', ['webhook.test']);
    await receive(anEvent({ account }));
    for (const version of [1, 2]) {
      const { status, body } = await tested.post('/test');
      expect(status).toBe(202);
      expect(body.data.event).toEqual({
        id: expect.stringMatching(/^evt_[0-9a-z]{36}$/),
        event: 'webhook.test',
        created_at: clock.now().toISOString(),
        sequence: version + 1,
        version,
        data: { webhook_id: tested.id, message: expect.any(String) },
      });
      expect(body.data.delivery_id).toBe(deliveryIdOf(tested.id, body.data.event.id));
      await deliverAll();
      const arrived = arrivedAt('/tested').at(-1);
      expect(
        new Webhook(tested.secret).verify(arrived?.body ?? '', arrived?.headers as Record<string, string>),
      ).toEqual(body.data.event);
      expect((await call('GET', `/api/events/${body.data.event.id}`, account)).body).toEqual(body.data.event);
      const delivery = await call('GET', `/api/deliveries/${body.data.delivery_id}`, account);
      expect(delivery.body).toMatchObject({ status: 'delivered', attempts: [{ number: 1, status: 200 }] });
    }
    // Only the tested endpoint receives it, subscribed or not, and it receives no other event for it.
    expect(await deliveriesOf(other.key)).toEqual([]);
    expect((await other.post('/test')).status).toBe(202);
    await deliverAll();
    expect(arrivedAt('/untested').map(({ body }) => JSON.parse(body).event)).toEqual(['webhook.test']);
    expect(arrivedAt('/tested')).toHaveLength(2);
    expect((await call('GET', '/api/events', account)).body.meta.last_sequence).toBe(4);
  });
});

/** Goes through the whole retry schedule of an endpoint's deliveries. */
async function exhaust(key: string): Promise<void> {
  for (;;) {
    await deliverAll();
    const waiting = (await deliveriesOf(key)).filter(({ state }) => state === 'waiting');
    if (waiting.length === 0) return;
    const due = Math.min(...waiting.map(({ due_at }) => due_at.getTime()));
    clock.advance(due - clock.now().getTime());
  }
}

describe('a redelivery', () => {
  test('sends the same event again at once and starts a new retry cycle', async () => {
    const { account, id, key, post } = await aShop('/anew');
    const event = anEvent({ account });
    const path = `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    await receive(event);
    answerWith(500);
    await exhaust(key);
    expect(await statesOf(key)).toEqual(['exhausted']);
    expect(arrivedAt('/anew')).toHaveLength(10);
    // A success in between: five days of failures alone would disable the endpoint.
    answerWith(200);
    await post('/test');
    await deliverAll();
    receiver.received.splice(receiver.received.indexOf(arrivedAt('/anew').at(-1) as Received), 1);
    answerWith(500);

    const now = clock.now().toISOString();
    const asked = await call('POST', `${path}/redeliver`, account);
    expect(asked).toMatchObject({
      status: 202,
      body: { data: { id: deliveryIdOf(id, event.id), status: 'waiting', next_attempt_at: now } },
    });
    // Two requests before it is sent send it once.
    expect(await call('POST', `${path}/redeliver`, account)).toEqual(asked);
    expect(await call('POST', `${path}/redeliver`, account, { now: true })).toMatchObject({ status: 422 });
    await deliverAll();
    expect(arrivedAt('/anew')).toHaveLength(11);
    const second = (await call('GET', path, account)).body;
    const wait = Date.parse(second.next_attempt_at) - clock.now().getTime();
    expect(wait).toBeGreaterThanOrEqual(4_500);
    expect(wait).toBeLessThanOrEqual(5_500);
    await exhaust(key);
    expect(arrivedAt('/anew')).toHaveLength(20);
    expect(new Set(arrivedAt('/anew').map((one) => one.headers['webhook-id'])).size).toBe(1);
    const last = (await call('GET', path, account)).body;
    expect(last).toMatchObject({ status: 'exhausted' });
    expect(last.attempts.at(-1).number).toBe(20);
  });

  test('shows that it is not sent before the end of the pause that its endpoint asked for', async () => {
    const { account, id, path: endpoint, patch, shown } = await aShop('/left-alone');
    const [refused, held] = [anEvent({ account }), anEvent({ account, resource: 'inv_2' })];
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
    await receive(refused);
    await deliverAll();
    await receive(held);
    const pausedUntil = clock.hence(2 * HOUR);
    expect((await shown()).paused_until).toBe(pausedUntil);
    const path = `/api/deliveries/${deliveryIdOf(id, refused.id)}`;
    const waits = { status: 'waiting', next_attempt_at: pausedUntil };
    expect(await call('POST', `${path}/redeliver`, account)).toMatchObject({ body: { data: waits } });
    expect((await call('GET', path, account)).body).toMatchObject(waits);
    for (const query of ['', '?status=waiting', '?event=invoice.created']) {
      const { body } = await call('GET', `${endpoint}/deliveries${query}`, account);
      expect(body.data).toMatchObject([waits, waits]);
    }
    // A new address ends the pause.
    await patch({ url: `${receiver.url}/back` });
    const now = clock.now().toISOString();
    expect((await call('GET', path, account)).body.next_attempt_at).toBe(now);
    answerWith(200);
    await deliverAll();
    expect(arrivedAt('/back')).toHaveLength(2);
  });

  test('sends a delivered, a cancelled and a waiting delivery again', async () => {
    const { account, id, key, post } = await aShop('/whatever');
    const event = anEvent({ account });
    const redeliver = () => call('POST', `/api/deliveries/${deliveryIdOf(id, event.id)}/redeliver`, account);
    const again = async (status: number, arrivals: number) => {
      answerWith(status);
      expect((await redeliver()).status).toBe(202);
      await deliverAll();
      expect(arrivedAt('/whatever')).toHaveLength(arrivals);
    };
    await receive(event);
    await deliverAll();
    await again(500, 2);
    await again(500, 3);
    await post('/disable');
    await post('/enable');
    expect(await statesOf(key)).toEqual(['cancelled']);
    await again(200, 4);
    expect(await statesOf(key)).toEqual(['delivered']);
  });

  test('is refused during an attempt, and for a disabled or deleted endpoint', async () => {
    const { account, id, key, post } = await aShop('/not-now');
    const event = anEvent({ account });
    const path = `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    const redeliver = () => call('POST', `${path}/redeliver`, account);
    await receive(event);
    await claim();
    expect(await redeliver()).toEqual(conflict('The delivery is being sent: ask again when that has ended.'));
    expect(await statesOf(key)).toEqual(['sending']);
    await post('/disable');
    expect(await redeliver()).toEqual(conflict('The webhook is disabled: enable it first.'));
    await call('DELETE', `/api/webhooks/${id}`, account);
    expect(await redeliver()).toEqual(
      conflict('The webhook was deleted: read the event with GET /api/events/{id}.'),
    );
    expect((await call('GET', path, account)).status).toBe(200);
  });
});
