import { describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { readEndpoint } from '../src/operations/endpoints.ts';
import { lockQueues } from '../src/store/endpoint-queues.ts';
import { disableEndpoints } from '../src/store/endpoints.ts';
import { type Answered, noWebhook } from './caller.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  receiveEvents,
} from './fixture.ts';
import { freshQueue, queueFixture } from './queue-fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const { fixture, receiver, arrivedAt, statesOf, answerWith, caller, aShop } = await openReceiverFixture();
const { queuesOf, lastAttemptIsDue, subscribedSince } = queueFixture(fixture);
/** With the settings of a sandbox, and of production. */
const lax = await caller();

const url = 'https://shop.example/hook';

describe('disabling and enabling', () => {
  test.each([
    ['by their routes', 'POST', (on: boolean) => (on ? '/enable' : '/disable'), () => undefined],
    ['by PATCH', 'PATCH', () => '', (enabled: boolean) => ({ enabled })],
  ])(
    '%s: nothing more is sent, and missed events are not sent automatically',
    async (_, verb, path, body) => {
      const { account, id, key } = await aShop(`/paused-${verb}`);
      const turn = (on: boolean): Promise<Answered> =>
        lax.call(verb, `/api/webhooks/${id}${path(on)}`, account, body(on));
      await receiveEvents(fixture.ports, anEvent({ account }));

      fixture.clock.advance(1_000);
      const disabledAt = fixture.clock.now().toISOString();
      const off = await turn(false);
      expect(off).toMatchObject({
        status: 200,
        body: {
          data: { enabled: false, disabled_reason: 'Disabled by its owner.', disabled_at: disabledAt },
        },
      });
      expect((await lax.call('GET', `/api/webhooks/${id}/deliveries`, account)).body.data).toMatchObject([
        { status: 'cancelled', next_attempt_at: null },
      ]);
      fixture.clock.advance(1_000);
      // A second time changes nothing, not even the time.
      expect(await turn(false)).toEqual(off);
      await receiveEvents(fixture.ports, anEvent({ account }));
      expect(await deliver(fixture.ports)).toEqual([]);

      const on = await turn(true);
      const enabledAt = fixture.clock.now();
      expect(await subscribedSince(key)).toEqual(enabledAt);
      expect(on).toMatchObject({
        status: 200,
        body: { data: { enabled: true, disabled_reason: null, disabled_at: disabledAt } },
      });
      fixture.clock.advance(1_000);
      expect(await turn(true)).toEqual(on);
      expect(await subscribedSince(key)).toEqual(enabledAt);
      expect((await lax.call('GET', `/api/webhooks/${id}`, account)).body).toEqual(on.body.data);
      await deliverAll(fixture.ports);
      await receiveEvents(fixture.ports, anEvent({ account }));
      await deliverAll(fixture.ports);
      expect(arrivedAt(`/paused-${verb}`).map((one) => JSON.parse(one.body).sequence)).toEqual([3]);
      expect(await deliveriesOf(fixture.db, key)).toMatchObject([
        { sequence: '1', state: 'cancelled' },
        { sequence: '3', state: 'delivered' },
      ]);
    },
  );

  test('a replay from `missed_since` sends waiting and exhausted deliveries, and events without a delivery', async () => {
    const { account, id, key } = await aShop('/missed');
    const happens = (count: number) =>
      receiveEvents(
        fixture.ports,
        ...Array.from({ length: count }, (_, i) => ({
          ...anEvent({ account, resource: `inv_${i}` }),
          created_at: fixture.clock.now().toISOString(),
        })),
      );
    const shown = async () => (await lax.call('GET', `/api/webhooks/${id}`, account)).body;
    const from = (time: Date) => new Date(time.getTime() - 3_600_000).toISOString();
    const day = 24 * 3_600_000;

    await happens(2);
    await deliverAll(fixture.ports);
    fixture.clock.advance(2 * day);
    // The oldest missed event is exhausted, and another delivery waits for its next attempt.
    const first = fixture.clock.now();
    answerWith(500);
    await happens(1);
    await lastAttemptIsDue(key);
    await deliverAll(fixture.ports);
    fixture.clock.advance(day);
    await happens(1);
    await deliverAll(fixture.ports);
    expect(await statesOf(key)).toEqual(['delivered', 'delivered', 'exhausted', 'waiting']);
    const failing = await shown();
    expect(failing).toMatchObject({ failing_since: first.toISOString(), missed_since: null });

    fixture.clock.advance(day);
    await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    const disabled = await shown();
    expect(disabled).toMatchObject({ failing_since: failing.failing_since, missed_since: from(first) });
    await happens(1);
    await lax.call('POST', `/api/webhooks/${id}/enable`, account);
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: disabled.missed_since });
    answerWith(200);
    const range = {
      from: disabled.missed_since,
      to: new Date(fixture.clock.now().getTime() + 1).toISOString(),
    };
    const replayed = await lax.call('POST', `/api/webhooks/${id}/replay`, account, range);
    expect(replayed.body.data).toEqual({ queued: 3, already_waiting: 0, already_delivered: 0 });
    const before = arrivedAt('/missed').length;
    await deliverAll(fixture.ports);
    const arrived = arrivedAt('/missed').slice(before);
    expect(arrived.map((one) => JSON.parse(one.body).sequence).sort()).toEqual([3, 4, 5]);

    // Nothing has failed since: it misses the waiting deliveries, and without those the events from now on.
    await happens(1);
    const waits = fixture.clock.now();
    fixture.clock.advance(day);
    await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: from(waits) });
    // It was enabled and disabled again before a delivery succeeded: it still misses the same events.
    await lax.call('POST', `/api/webhooks/${id}/enable`, account);
    await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: from(waits) });
  });

  test('deliveries that were exhausted at a former URL count as missed', async () => {
    const { account, id, key } = await aShop('/moving');
    answerWith(500);
    const happens = () =>
      receiveEvents(fixture.ports, {
        ...anEvent({ account }),
        created_at: fixture.clock.now().toISOString(),
      });
    const first = fixture.clock.now();
    await happens();
    await lastAttemptIsDue(key);
    await deliverAll(fixture.ports);
    expect(await statesOf(key)).toEqual(['exhausted']);
    fixture.clock.advance(4 * 24 * 3_600_000);
    await lax.call('PATCH', `/api/webhooks/${id}`, account, { url: `${receiver.url}/moving?2` });
    await happens();
    await deliverAll(fixture.ports);
    await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    const shown = (await lax.call('GET', `/api/webhooks/${id}`, account)).body;
    expect(shown.missed_since).toBe(new Date(first.getTime() - 3_600_000).toISOString());
  });

  test('an endpoint that 410 disabled is enabled with a new health', async () => {
    const { account, id, key } = await aShop('/gone');
    answerWith(410);
    const event = {
      ...anEvent({ account }),
      created_at: new Date(fixture.clock.now().getTime() - 5_000).toISOString(),
    };
    await receiveEvents(fixture.ports, event);
    await deliverAll(fixture.ports);
    const disabled = (await lax.call('GET', `/api/webhooks/${id}`, account)).body;
    expect(disabled).toMatchObject({
      enabled: false,
      disabled_reason: 'The endpoint answered 410 Gone.',
      disabled_at: fixture.clock.now().toISOString(),
      failing_since: fixture.clock.now().toISOString(),
      missed_since: new Date(Date.parse(event.created_at) - 3_600_000).toISOString(),
    });
    // Its owner cannot change that reason.
    expect((await lax.call('POST', `/api/webhooks/${id}/disable`, account)).body.data).toEqual(disabled);
    expect((await lax.call('POST', `/api/webhooks/${id}/enable`, account)).status).toBe(200);
    expect(await queuesOf(key)).toEqual([freshQueue]);
  });

  test('a change of its owner comes after a concurrent automatic disabling', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, url);
    const isWaiting = async () => {
      const waiting = await fixture.db.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(1);
    };
    const reason = 'The endpoint answered 410 Gone.';
    const asked = await fixture.db.transaction(async (trx) => {
      await lockQueues(trx, [key]);
      const call = lax.call('POST', `/api/webhooks/${id}/disable`, account);
      await eventually(isWaiting);
      await disableEndpoints(trx, [{ key, reason }], fixture.clock.now());
      return { call };
    });
    expect((await asked.call).body.data).toMatchObject({ enabled: false, disabled_reason: reason });
  });

  test('a deleted endpoint stays deleted', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, url);
    await lax.call('POST', `/api/webhooks/${id}/disable`, account);
    const [, ...enabled] = await Promise.all([
      lax.call('DELETE', `/api/webhooks/${id}`, account),
      ...Array.from({ length: 5 }, () => lax.call('POST', `/api/webhooks/${id}/enable`, account)),
    ]);
    for (const { status } of enabled) expect([200, 404]).toContain(status);
    expect(await queuesOf(key)).toEqual([]);
    expect(await lax.call('POST', `/api/webhooks/${id}/enable`, account)).toEqual(noWebhook);
  });
});

test('five days of failures without a success disable the endpoint', async () => {
  const { account, id } = await aShop('/dead');
  answerWith(500);
  for (let day = 0; day < 5; day++) {
    await receiveEvents(fixture.ports, anEvent({ account, resource: `inv_${day}` }));
    await deliverAll(fixture.ports);
    fixture.clock.advance(24 * 3_600_000);
  }
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({ value: { enabled: true } });
  await deliverAll(fixture.ports);
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({
    value: { enabled: false, disabledReason: 'No delivery has succeeded for 5 days.' },
  });
});
