import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { type AccountId, newEventId } from '@quittance/shared/ids';
import { type Received, type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { deliveryIdOf } from '../src/domain/delivery.ts';
import { claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { replayEvents } from '../src/operations/deliveries.ts';
import { changeEndpoint, deleteEndpoint } from '../src/operations/endpoints.ts';
import { type Caller, forbidden, invalid, openCaller } from './caller.ts';
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

const DAY = 24 * 3_600_000;

let fixture: Fixture;
let receiver: Receiver;
let caller: Caller;

beforeAll(async () => {
  [fixture, receiver] = await Promise.all([openFixture(), startReceiver()]);
  caller = await openCaller(fixture);
});
afterEach(() => {
  receiver.answer((response) => response.writeHead(200).end());
});
afterAll(async () => {
  await Promise.all([caller?.close(), receiver?.close()]);
  await fixture?.close();
});

const arrivedAt = (path: string) => receiver.received.filter((one) => one.path === path);
const sequencesAt = (path: string) => arrivedAt(path).map((one) => JSON.parse(one.body).sequence);
const answerWith = (status: number, body = '') =>
  receiver.answer((response) => response.writeHead(status).end(body));
const statesOf = async (key: string) => (await deliveriesOf(fixture.db, key)).map(({ state }) => state);
const someEvents = (account: AccountId, count: number, kind: 'invoice.created' | 'invoice.paid') =>
  Array.from({ length: count }, (_, i) => anEvent({ account, kind, resource: `${kind}_${i}` }));

/** Goes through the whole retry schedule of an endpoint's deliveries. */
async function exhaust(key: string): Promise<void> {
  for (;;) {
    await deliverAll(fixture.ports);
    const waiting = (await deliveriesOf(fixture.db, key)).filter(({ state }) => state === 'waiting');
    if (waiting.length === 0) return;
    const due = Math.min(...waiting.map(({ due_at }) => due_at.getTime()));
    fixture.clock.advance(due - fixture.clock.now().getTime());
  }
}

const noDelivery = { status: 404, body: { message: 'No query results for model [Delivery].' } };

describe('the delivery log', () => {
  test('shows each delivery with its attempts, the latest event first', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/log`);
    const [first, second] = [anEvent({ account }), anEvent({ account, kind: 'invoice.paid' })];
    await receiveEvents(fixture.ports, first);
    const firstAt = fixture.clock.now().toISOString();
    answerWith(503, 'out of order');
    await deliverAll(fixture.ports);
    fixture.clock.advance(6_000);
    const secondAt = fixture.clock.now().toISOString();
    answerWith(204);
    await deliverAll(fixture.ports);
    await receiveEvents(fixture.ports, second);

    const path = `/api/webhooks/${id}/deliveries`;
    const waiting = {
      id: deliveryIdOf(id, second.id),
      webhook_id: id,
      event: { id: second.id, event: 'invoice.paid', sequence: 2, created_at: second.created_at },
      status: 'waiting',
      next_attempt_at: secondAt,
      attempts: [],
    };
    const delivered = {
      id: deliveryIdOf(id, first.id),
      webhook_id: id,
      event: { id: first.id, event: 'invoice.created', sequence: 1, created_at: first.created_at },
      status: 'delivered',
      next_attempt_at: null,
      attempts: [
        {
          number: 1,
          started_at: firstAt,
          ms: expect.any(Number),
          status: 503,
          failure: null,
          answer: 'out of order',
        },
        { number: 2, started_at: secondAt, ms: expect.any(Number), status: 204, failure: null, answer: '' },
      ],
    };
    expect(await caller.call('GET', path, account)).toEqual({
      status: 200,
      body: { data: [waiting, delivered], meta: { has_more: false, next_before: null } },
    });
    for (const one of [waiting, delivered]) {
      expect(await caller.call('GET', `/api/deliveries/${one.id}`, account)).toEqual({
        status: 200,
        body: one,
      });
    }
    await claimDeliveries(fixture.ports, ROOM);
    expect((await caller.call('GET', `/api/deliveries/${waiting.id}`, account)).body).toEqual({
      ...waiting,
      status: 'sending',
      next_attempt_at: null,
    });
  });

  test('an attempt without an answer says why', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, 'http://127.0.0.1:9/closed');
    await receiveEvents(fixture.ports, anEvent({ account }));
    await deliverAll(fixture.ports);
    const { body } = await caller.call('GET', `/api/webhooks/${id}/deliveries`, account);
    expect(body.data[0].attempts).toEqual([
      expect.objectContaining({ status: null, failure: 'not_connected', answer: null }),
    ]);
  });

  test('is filtered by status and event type, and read page by page without a gap', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/pages`);
    await receiveEvents(
      fixture.ports,
      ...someEvents(account, 12, 'invoice.created'),
      ...someEvents(account, 5, 'invoice.paid'),
    );
    await fixture.db.rows(
      `update deliveries set state = (array['waiting', 'delivered', 'exhausted', 'cancelled'])[1 + sequence % 4]
       where endpoint_key = $1`,
      [key],
    );
    const stored = await deliveriesOf(fixture.db, key);
    const statuses = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'];
    for (const status of [undefined, ...statuses]) {
      for (const kind of [undefined, 'invoice.created', 'invoice.paid', 'payout.failed']) {
        const filters = new URLSearchParams({
          ...(status === undefined ? {} : { status }),
          ...(kind === undefined ? {} : { event: kind }),
          limit: '2',
        });
        const seen: string[] = [];
        for (let before: number | null | undefined; before !== null; ) {
          if (before !== undefined) filters.set('before', String(before));
          const { body } = await caller.call('GET', `/api/webhooks/${id}/deliveries?${filters}`, account);
          expect(body.meta.has_more).toBe(body.meta.next_before !== null);
          expect(body.data.length).toBeLessThanOrEqual(2);
          seen.push(...body.data.map((one: { event: { sequence: number } }) => String(one.event.sequence)));
          before = body.meta.next_before;
        }
        const expected = stored
          .filter(({ state }) => status === undefined || state === status)
          .map(({ sequence }) => sequence)
          .filter((_, i, all) => {
            const sequence = BigInt(all[i] ?? 0);
            if (kind === undefined) return true;
            return kind === 'invoice.created' ? sequence <= 12n : kind === 'invoice.paid' && sequence > 12n;
          });
        expect([status, kind, seen]).toEqual([status, kind, expected.reverse()]);
      }
    }
  });

  test('shows the latest ten attempts of a delivery', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/many`);
    await receiveEvents(fixture.ports, anEvent({ account }));
    await fixture.db.rows(
      `update deliveries set state = 'exhausted', attempts = 23 where endpoint_key = $1`,
      [key],
    );
    await fixture.db.rows(
      `insert into attempts (endpoint_key, sequence, number, started_at, ms, status)
       select $1, 1, n, now(), 1, 500 from generate_series(1, 23) as n`,
      [key],
    );
    const { body } = await caller.call('GET', `/api/webhooks/${id}/deliveries`, account);
    expect(body.data[0].attempts.map((one: { number: number }) => one.number)).toEqual([
      14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    ]);
  });

  test.each([
    ['status=lost', { status: ['The selected status is invalid.'] }],
    ['event=invoice.sold', { event: ['The selected event is invalid.'] }],
    ['before=0', { before: ['The before must be at least 1.'] }],
    ['before=x', { before: ['The before must be an integer.'] }],
    ['limit=0', { limit: ['The limit must be at least 1.'] }],
    ['limit=101', { limit: ['The limit must not be greater than 100.'] }],
    ['status[]=waiting', { status: ['The status must be a string.'] }],
  ])('?%s is refused', async (query, errors) => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    expect(await caller.call('GET', `/api/webhooks/${id}/deliveries?${query}`, account)).toEqual(
      invalid(errors),
    );
  });

  test('answers 403 for another account’s delivery and 404 for an unknown one', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    const [told, other] = [anEvent({ account }), anEvent()];
    await receiveEvents(fixture.ports, told, other);
    const of = (event: { id: typeof told.id }) => `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    for (const [verb, more] of [
      ['GET', ''],
      ['POST', '/redeliver'],
    ] as const) {
      expect(await caller.call(verb, `${of(told)}${more}`, anAccount())).toEqual(forbidden);
      // Another account's event is not a delivery of this endpoint either.
      for (const unknown of [of(other), of({ id: newEventId() }), '/api/deliveries/dlv_1']) {
        expect(await caller.call(verb, `${unknown}${more}`, account)).toEqual(noDelivery);
      }
    }
  });
});

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
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await caller.call('POST', `/api/webhooks/${id}/test`, account)).toEqual({
      status: 409,
      body: { message: 'The webhook is disabled: enable it first.' },
    });
    expect((await caller.call('GET', '/api/events', account)).body.data).toEqual([]);
  });
});

describe('a redelivery', () => {
  test('sends the same event again at once and starts a new retry cycle', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/anew`);
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
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/left-alone`);
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
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/whatever`);
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
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/not-now`);
    const event = anEvent({ account });
    const path = `/api/deliveries/${deliveryIdOf(id, event.id)}`;
    const redeliver = () => caller.call('POST', `${path}/redeliver`, account);
    await receiveEvents(fixture.ports, event);
    await claimDeliveries(fixture.ports, ROOM);
    expect(await redeliver()).toEqual({
      status: 409,
      body: { message: 'The delivery is being sent: ask again when that has ended.' },
    });
    expect(await statesOf(key)).toEqual(['sending']);
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await redeliver()).toEqual({
      status: 409,
      body: { message: 'The webhook is disabled: enable it first.' },
    });
    await caller.call('DELETE', `/api/webhooks/${id}`, account);
    expect(await redeliver()).toEqual({
      status: 409,
      body: { message: 'The webhook was deleted: read the event with GET /api/events/{id}.' },
    });
    expect((await caller.call('GET', path, account)).status).toBe(200);
  });
});

describe('a replay', () => {
  /** From an hour ago until in an hour. */
  const around = (more: object = {}) => ({
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
    ...more,
  });
  const counts = (queued: number, already_waiting: number, already_delivered: number) => ({
    status: 202,
    body: { message: expect.any(String), data: { queued, already_waiting, already_delivered } },
  });

  test('sends events without a delivery, exhausted and cancelled ones, each once', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/replayed`);
    const replay = (body: object) => caller.call('POST', `/api/webhooks/${id}/replay`, account, body);
    await receiveEvents(fixture.ports, ...someEvents(account, 2, 'invoice.created'));
    await deliverAll(fixture.ports);
    await receiveEvents(fixture.ports, ...someEvents(account, 3, 'invoice.paid'));
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    await receiveEvents(
      fixture.ports,
      ...someEvents(account, 4, 'invoice.paid'),
      anEvent({ account, kind: 'payout.created' }),
    );
    await caller.call('POST', `/api/webhooks/${id}/enable`, account);
    await receiveEvents(fixture.ports, anEvent({ account, kind: 'invoice.expired' }));
    expect(sequencesAt('/replayed')).toEqual([1, 2]);

    expect(await replay(around())).toEqual(counts(7, 1, 2));
    expect(await replay(around())).toEqual(counts(0, 8, 2));
    // A new delivery does not wait for the replayed ones.
    await deliver(fixture.ports);
    expect(sequencesAt('/replayed')).toContain(11);
    await deliverAll(fixture.ports);
    expect(sequencesAt('/replayed').slice(2).sort()).toEqual([11, 3, 4, 5, 6, 7, 8, 9]);
    expect(await statesOf(key)).toEqual(Array.from({ length: 10 }, () => 'delivered'));
    expect(await replay(around())).toEqual(counts(0, 0, 10));

    expect(await replay(around({ events: ['payout.created'] }))).toEqual(counts(1, 0, 0));
    expect(await replay(around({ events: ['invoice.created'], include_delivered: true }))).toEqual(
      counts(2, 0, 0),
    );
    await deliverAll(fixture.ports);
    expect(sequencesAt('/replayed').slice(10).sort()).toEqual([1, 10, 2]);
    const ids = arrivedAt('/replayed').map((one) => one.headers['webhook-id']);
    expect(new Set(ids).size).toBe(11);
  });

  test('reaches an endpoint that is younger than the events', async () => {
    const account = anAccount();
    await receiveEvents(fixture.ports, ...someEvents(account, 3, 'invoice.paid'));
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/younger`);
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, around())).toEqual(
      counts(3, 0, 0),
    );
    await deliverAll(fixture.ports);
    expect(sequencesAt('/younger')).toEqual([1, 2, 3]);
  });

  test('includes the start of its range and excludes the end', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/range`);
    const start = Date.now() - 10 * DAY;
    const at = (second: number) => new Date(start + second * 1_000).toISOString();
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    await receiveEvents(
      fixture.ports,
      ...[0, 1, 2, 3].map((second) => ({
        ...anEvent({ account, resource: `inv_${second}` }),
        created_at: at(second),
      })),
    );
    await caller.call('POST', `/api/webhooks/${id}/enable`, account);
    const order = { from: at(1), to: at(3) };
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, order)).toEqual(counts(2, 0, 0));
    await deliverAll(fixture.ports);
    expect(sequencesAt('/range')).toEqual([2, 3]);
  });

  test('includes test events of its own endpoint only', async () => {
    const account = anAccount();
    const [one, other] = [
      await anEndpoint(fixture.ports, account, `${receiver.url}/own-test`),
      await anEndpoint(fixture.ports, account, `${receiver.url}/other-test`, ['webhook.test']),
    ];
    await caller.call('POST', `/api/webhooks/${one.id}/test`, account);
    const order = {
      ...around(),
      from: new Date(fixture.clock.now().getTime() - 1_000),
      to: new Date(fixture.clock.now().getTime() + 1_000),
    };
    for (const [{ id }, events, answer] of [
      [one, ['webhook.test'], counts(0, 1, 0)],
      [one, undefined, counts(0, 0, 0)],
      [other, undefined, counts(0, 0, 0)],
    ] as const) {
      expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, { ...order, events })).toEqual(
        answer,
      );
    }
  });

  test('queues each of many events once, also with concurrent requests', async () => {
    const account = anAccount();
    const EVENTS = 3_500;
    await receiveEvents(fixture.ports, ...someEvents(account, EVENTS, 'invoice.paid'));
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/many-replayed`);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => caller.call('POST', `/api/webhooks/${id}/replay`, account, around())),
    );
    const sum = (name: string) => answers.reduce((total, { body }) => total + body.data[name], 0);
    expect(sum('queued')).toBe(EVENTS);
    expect(sum('already_waiting')).toBe(3 * EVENTS);
    expect(await statesOf(key)).toEqual(Array.from({ length: EVENTS }, () => 'waiting'));
  });

  test('queues at most a hundred thousand deliveries for an account and day, and says when to ask again', async () => {
    const account = anAccount();
    const [one, other] = [
      await anEndpoint(fixture.ports, account, `${receiver.url}/a-day`),
      await anEndpoint(fixture.ports, account, `${receiver.url}/a-day`),
    ];
    const replay = (id: string) => caller.call('POST', `/api/webhooks/${id}/replay`, account, around());
    await Promise.all(
      [one, other].map(({ id }) => caller.call('POST', `/api/webhooks/${id}/disable`, account)),
    );
    await receiveEvents(fixture.ports, ...someEvents(account, 3, 'invoice.paid'));
    await Promise.all(
      [one, other].map(({ id }) => caller.call('POST', `/api/webhooks/${id}/enable`, account)),
    );
    const today = fixture.clock.now().toISOString().slice(0, 10);
    await fixture.db.rows('update accounts set replayed = 99996, replayed_on = $2 where account_id = $1', [
      account,
      today,
    ]);
    const both = await Promise.all([replay(one.id), replay(other.id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 429]);
    const until = new Date(Date.parse(today) + DAY).toISOString();
    expect(both.find(({ status }) => status === 429)?.body).toEqual({
      message: `The replays of an account may queue 100000 deliveries a day. Narrow the range, or ask again after ${until}: what is queued already stays queued.`,
    });
    const queued = await Promise.all([one, other].map(async ({ key }) => (await statesOf(key)).length));
    expect(queued.reduce((all, n) => all + n)).toBeLessThanOrEqual(4);
    // Another replay of waiting deliveries queues nothing and does not count.
    const done = queued[0] === 3 ? one : other;
    expect(await replay(done.id)).toEqual(counts(0, 3, 0));
    // Another account has its own limit.
    const neighbour = anAccount();
    await receiveEvents(fixture.ports, anEvent({ account: neighbour }));
    const theirs = await anEndpoint(fixture.ports, neighbour, `${receiver.url}/a-day`);
    expect(
      (await caller.call('POST', `/api/webhooks/${theirs.id}/replay`, neighbour, around())).body.data.queued,
    ).toBe(1);

    const tomorrow = { ...fixture.ports, clock: { now: () => new Date(Date.parse(until) + 1) } };
    const order = { from: new Date(around().from), to: new Date(around().to), eventTypes: null };
    for (const { id } of [one, other]) {
      expect(await replayEvents(tomorrow, account, id, { ...order, includeDelivered: false })).toMatchObject({
        ok: true,
      });
    }
    expect(await fixture.db.one('select replayed from accounts where account_id = $1', [account])).toEqual({
      replayed: 6 - queued.reduce((all, n) => all + n),
    });
  });

  test('is refused for more than fifty thousand events, and then queues nothing', async () => {
    const account = anAccount();
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    await receiveEvents(fixture.ports, anEvent({ account }));
    await deliverAll(fixture.ports);
    await fixture.db.rows(
      `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
       select $1, n, 'evt_' || $1 || n, 'invoice.paid', now() - n * interval '1 second', 'inv', n, '{}'
       from generate_series(2, 50001) as n`,
      [account],
    );
    await fixture.db.rows('update accounts set last_sequence = 50001 where account_id = $1', [account]);
    const order = { from: new Date(Date.now() - 2 * DAY), to: new Date(Date.now() + DAY) };
    const events = ['invoice.created', 'invoice.paid'];
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, { ...order, events })).toEqual(
      invalid({ to: ['The range must not have more than 50000 events: narrow it.'] }),
    );
    expect(await deliveriesOf(fixture.db, key)).toHaveLength(1);
  });

  test('is refused while the endpoint is disabled', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, around())).toEqual({
      status: 409,
      body: { message: 'The webhook is disabled: enable it first.' },
    });
  });

  test.each([
    ['deleted', deleteEndpoint],
    [
      'disabled',
      (...[ports, account, id]: Parameters<typeof deleteEndpoint>) =>
        changeEndpoint(ports, account, id, { enabled: false }),
    ],
  ] as const)('of an endpoint that is %s while it goes on says so', async (refusal, end) => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    await receiveEvents(fixture.ports, anEvent({ account }));
    const db: Db = {
      ...fixture.db,
      async transaction(work) {
        await end(fixture.ports, account, id);
        return await fixture.db.transaction(work);
      },
    };
    const { from, to } = around();
    const order = { from: new Date(from), to: new Date(to), eventTypes: null, includeDelivered: true };
    expect(await replayEvents({ ...fixture.ports, db }, account, id, order)).toEqual({ ok: false, refusal });
  });

  const hence = (ms: number) => new Date(Date.now() + ms).toISOString();
  test.each<[object | string, Record<string, (string | RegExp)[]>]>([
    ['', { from: ['The from field is required.'], to: ['The to field is required.'] }],
    [
      { from: 'yesterday', to: 5 },
      { from: ['The from is not a valid date.'], to: ['The to must be a string.'] },
    ],
    [{ from: hence(0), to: hence(-60_000) }, { to: ['The to must be a date after from.'] }],
    [{ from: '2026-11-01', to: '2026-11-01' }, { to: ['The to must be a date after from.'] }],
    [around({ events: [] }), { events: ['The events must have at least 1 items.'] }],
    [around({ events: ['invoice.sold'] }), { 'events.0': ['The selected events.0 is invalid.'] }],
    [
      around({ include_delivered: 'maybe' }),
      { include_delivered: ['The include delivered field must be true or false.'] },
    ],
  ])('%j is refused', async (body, errors) => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, body)).toEqual(
      invalid(errors as Record<string, string[]>),
    );
  });

  test('cannot start more than ninety days ago', async () => {
    const account = anAccount();
    const { id } = await anEndpoint(fixture.ports, account, `${receiver.url}/`);
    const oldest = fixture.clock.now().getTime() - 90 * DAY;
    const replay = (from: number) =>
      caller.call('POST', `/api/webhooks/${id}/replay`, account, {
        from: new Date(from).toISOString(),
        to: new Date(oldest + DAY).toISOString(),
      });
    expect(await replay(oldest - 1)).toEqual(
      invalid({ from: [`The from must be a date after or equal to ${new Date(oldest).toISOString()}.`] }),
    );
    expect((await replay(oldest)).status).toBe(202);
  });
});
