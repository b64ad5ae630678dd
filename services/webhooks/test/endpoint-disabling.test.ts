import { describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { lockQueues } from '../src/store/endpoint-queues.ts';
import { disableEndpoints } from '../src/store/endpoints.ts';
import {
  type Answered,
  anEvent,
  conflict,
  DAY,
  freshQueue,
  HOUR,
  noWebhook,
  openFixture,
} from './fixture.ts';

const fixture = await openFixture();
const { db, clock, receiver, answerWith, call, receive, deliver, deliverAll } = fixture;
const { deliveriesOf, aShop, sequencesAt, statesOf, queuesOf, lastAttemptIsDue } = fixture;
const { subscribedSince } = fixture;
const url = 'https://shop.example/hook';

describe('disabling and enabling', () => {
  test.each([
    ['by their routes', 'POST', (on: boolean) => (on ? '/enable' : '/disable'), () => undefined],
    ['by PATCH', 'PATCH', () => '', (enabled: boolean) => ({ enabled })],
  ])(
    '%s: nothing more is sent, not even what its owner asks for, and missed events are not sent automatically',
    async (_, verb, path, body) => {
      const shop = await aShop(`/paused-${verb}`);
      const { account, key, shown } = shop;
      const turn = (on: boolean): Promise<Answered> =>
        call(verb, `${shop.path}${path(on)}`, account, body(on));
      await receive(anEvent({ account }));

      clock.advance(1_000);
      const disabledAt = clock.now().toISOString();
      const off = await turn(false);
      expect(off).toMatchObject({
        status: 200,
        body: {
          data: { enabled: false, disabled_reason: 'Disabled by its owner.', disabled_at: disabledAt },
        },
      });
      expect((await call('GET', `${shop.path}/deliveries`, account)).body.data).toMatchObject([
        { status: 'cancelled', next_attempt_at: null },
      ]);
      clock.advance(1_000);
      // A second time changes nothing, not even the time.
      expect(await turn(false)).toEqual(off);
      await receive(anEvent({ account }));
      expect(await deliver()).toEqual([]);
      const range = { from: clock.hence(-HOUR), to: clock.hence(HOUR) };
      for (const refused of [await shop.post('/test'), await shop.post('/replay', range)])
        expect(refused).toEqual(conflict('The webhook is disabled: enable it first.'));

      const on = await turn(true);
      const enabledAt = clock.now();
      expect(await subscribedSince(key)).toEqual(enabledAt);
      expect(on).toMatchObject({
        status: 200,
        body: { data: { enabled: true, disabled_reason: null, disabled_at: disabledAt } },
      });
      clock.advance(1_000);
      expect(await turn(true)).toEqual(on);
      expect(await subscribedSince(key)).toEqual(enabledAt);
      expect(await shown()).toEqual(on.body.data);
      await deliverAll();
      await receive(anEvent({ account }));
      await deliverAll();
      expect(sequencesAt(`/paused-${verb}`)).toEqual([3]);
      expect(await deliveriesOf(key)).toMatchObject([
        { sequence: '1', state: 'cancelled' },
        { sequence: '3', state: 'delivered' },
      ]);
    },
  );

  test('a replay from `missed_since` sends waiting and exhausted deliveries, and events without a delivery', async () => {
    const { account, key, post, shown } = await aShop('/missed');
    const happens = () => receive(anEvent({ account, at: clock.now() }));
    const from = (time: Date) => new Date(time.getTime() - HOUR).toISOString();

    await happens();
    await happens();
    await deliverAll();
    clock.advance(2 * DAY);
    // The oldest missed event is exhausted, and another delivery waits for its next attempt.
    const first = clock.now();
    answerWith(500);
    await happens();
    await lastAttemptIsDue(key);
    await deliverAll();
    clock.advance(DAY);
    await happens();
    await deliverAll();
    expect(await statesOf(key)).toEqual(['delivered', 'delivered', 'exhausted', 'waiting']);
    const failing = await shown();
    expect(failing).toMatchObject({ failing_since: first.toISOString(), missed_since: null });

    clock.advance(DAY);
    await post('/disable');
    const disabled = await shown();
    expect(disabled).toMatchObject({ failing_since: failing.failing_since, missed_since: from(first) });
    await happens();
    await post('/enable');
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: disabled.missed_since });
    answerWith(200);
    const replayed = await post('/replay', { from: disabled.missed_since, to: clock.hence(1) });
    expect(replayed.body.data).toEqual({ queued: 3, already_waiting: 0, already_delivered: 0 });
    const before = sequencesAt('/missed').length;
    await deliverAll();
    expect(sequencesAt('/missed').slice(before).sort()).toEqual([3, 4, 5]);

    // Nothing has failed since: it misses the waiting deliveries, and without those the events from now on.
    await happens();
    const waits = clock.now();
    clock.advance(DAY);
    await post('/disable');
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: from(waits) });
    // It was enabled and disabled again before a delivery succeeded: it still misses the same events.
    await post('/enable');
    await post('/disable');
    expect(await shown()).toMatchObject({ failing_since: null, missed_since: from(waits) });
  });

  test('deliveries that were exhausted at a former URL count as missed', async () => {
    const { account, key, post, patch, shown } = await aShop('/moving');
    answerWith(500);
    const happens = () => receive(anEvent({ account, at: clock.now() }));
    const first = clock.now();
    await happens();
    await lastAttemptIsDue(key);
    await deliverAll();
    expect(await statesOf(key)).toEqual(['exhausted']);
    clock.advance(4 * DAY);
    await patch({ url: `${receiver.url}/moving?2` });
    await happens();
    await deliverAll();
    await post('/disable');
    expect((await shown()).missed_since).toBe(new Date(first.getTime() - HOUR).toISOString());
  });

  test('an endpoint that 410 disabled is enabled with a new health', async () => {
    const { account, key, post, shown } = await aShop('/gone');
    answerWith(410);
    const event = anEvent({ account, at: new Date(clock.now().getTime() - 5_000) });
    await receive(event);
    await deliverAll();
    const disabled = await shown();
    expect(disabled).toMatchObject({
      enabled: false,
      disabled_reason: 'The endpoint answered 410 Gone.',
      disabled_at: clock.now().toISOString(),
      failing_since: clock.now().toISOString(),
      missed_since: clock.hence(-5_000 - HOUR),
    });
    // Its owner cannot change that reason.
    expect((await post('/disable')).body.data).toEqual(disabled);
    expect((await post('/enable')).status).toBe(200);
    expect(await queuesOf(key)).toEqual([freshQueue]);
  });

  test('a change of its owner comes after a concurrent automatic disabling', async () => {
    const { key, post } = await aShop(url);
    const locks = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const reason = 'The endpoint answered 410 Gone.';
    const asked = await db.transaction(async (trx) => {
      await lockQueues(trx, [key]);
      const call = post('/disable');
      await eventually(async () => expect(await db.rows(locks)).toHaveLength(1));
      await disableEndpoints(trx, [{ key, reason }], clock.now());
      return { call };
    });
    expect((await asked.call).body.data).toMatchObject({ enabled: false, disabled_reason: reason });
  });

  test('a deleted endpoint stays deleted', async () => {
    const { account, key, path, post } = await aShop(url);
    await post('/disable');
    const [, ...enabled] = await Promise.all([
      call('DELETE', path, account),
      ...Array.from({ length: 5 }, () => post('/enable')),
    ]);
    for (const { status } of enabled) expect([200, 404]).toContain(status);
    expect(await queuesOf(key)).toEqual([]);
    expect(await post('/enable')).toEqual(noWebhook);
  });
});
