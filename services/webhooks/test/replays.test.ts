import { describe, expect, test } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { replayEvents } from '../src/operations/deliveries.ts';
import { changeEndpoint, deleteEndpoint } from '../src/operations/endpoints.ts';
import { invalid } from './caller.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  receiveEvents,
} from './fixture.ts';
import { openReceiverFixture, someEvents } from './receiver-fixture.ts';

const DAY = 24 * 3_600_000;

const opened = await openReceiverFixture();
const { fixture, receiver, arrivedAt, statesOf, aShop } = opened;
const caller = await opened.caller();

const sequencesAt = (path: string) => arrivedAt(path).map((one) => JSON.parse(one.body).sequence);

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
    const { account, id, key } = await aShop('/replayed');
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
    const { account, id } = await aShop('/range');
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
    // Later tests would send all of them.
    await deleteEndpoint(fixture.ports, account, id);
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
    expect(both.find(({ status }) => status === 429)?.body).toMatchObject({
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
    const { account, id, key } = await aShop('/');
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
    const { account, id } = await aShop('/');
    await caller.call('POST', `/api/webhooks/${id}/disable`, account);
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, around())).toEqual({
      status: 409,
      body: expect.objectContaining({ message: 'The webhook is disabled: enable it first.' }),
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
    const { account, id } = await aShop('/');
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
    const { account, id } = await aShop('/');
    expect(await caller.call('POST', `/api/webhooks/${id}/replay`, account, body)).toEqual(
      invalid(errors as Record<string, string[]>),
    );
  });

  test('cannot start more than ninety days ago', async () => {
    const { account, id } = await aShop('/');
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
