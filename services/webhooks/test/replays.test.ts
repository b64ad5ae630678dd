import { describe, expect, test } from '@jest/globals';
import type { Db } from '@quittance/shared/db';
import { replayEvents } from '../src/operations/deliveries.ts';
import { changeEndpoint, deleteEndpoint } from '../src/operations/endpoints.ts';
import { anAccount, anEvent, DAY, HOUR, invalid, openFixture, SECOND } from './fixture.ts';

const fixture = await openFixture();
const { db, clock, ports, receive, anEndpoint, deliver, deliverAll, deliveriesOf } = fixture;
const { receiveMany, aShop, arrivedAt, sequencesAt, statesOf } = fixture;

describe('a replay', () => {
  /** From an hour ago until in an hour. */
  const around = (more: object = {}) => ({
    from: clock.hence(-HOUR),
    to: clock.hence(HOUR),
    ...more,
  });
  const counts = (queued: number, already_waiting: number, already_delivered: number) => ({
    status: 202,
    body: { message: expect.any(String), data: { queued, already_waiting, already_delivered } },
  });

  test('sends events without a delivery, exhausted and cancelled ones, each once', async () => {
    const { account, key, post } = await aShop('/replayed');
    const replay = (body: object) => post('/replay', body);
    await receiveMany(account, 2, 'invoice.created');
    await deliverAll();
    await receiveMany(account, 3, 'invoice.paid');
    await post('/disable');
    await receiveMany(account, 4, 'invoice.paid');
    await receive(anEvent({ account, kind: 'payout.created' }));
    await post('/enable');
    await receive(anEvent({ account, kind: 'invoice.expired' }));
    expect(sequencesAt('/replayed')).toEqual([1, 2]);

    expect(await replay(around())).toEqual(counts(7, 1, 2));
    expect(await replay(around())).toEqual(counts(0, 8, 2));
    // A new delivery does not wait for the replayed ones.
    await deliver();
    expect(sequencesAt('/replayed')).toContain(11);
    await deliverAll();
    expect(sequencesAt('/replayed').slice(2).sort()).toEqual([11, 3, 4, 5, 6, 7, 8, 9]);
    expect(await statesOf(key)).toEqual(Array.from({ length: 10 }, () => 'delivered'));
    expect(await replay(around())).toEqual(counts(0, 0, 10));

    expect(await replay(around({ events: ['payout.created'] }))).toEqual(counts(1, 0, 0));
    expect(await replay(around({ events: ['invoice.created'], include_delivered: true }))).toEqual(
      counts(2, 0, 0),
    );
    await deliverAll();
    expect(sequencesAt('/replayed').slice(10).sort()).toEqual([1, 10, 2]);
    const ids = arrivedAt('/replayed').map((one) => one.headers['webhook-id']);
    expect(new Set(ids).size).toBe(11);
  });

  test('reaches an endpoint that is younger than the events', async () => {
    const account = anAccount();
    await receiveMany(account, 3, 'invoice.paid');
    const { post } = await anEndpoint(account, '/younger');
    expect(await post('/replay', around())).toEqual(counts(3, 0, 0));
    await deliverAll();
    expect(sequencesAt('/younger')).toEqual([1, 2, 3]);
  });

  test('includes the start of its range and excludes the end', async () => {
    const { account, post } = await aShop('/range');
    const start = clock.now().getTime() - 10 * DAY;
    const at = (second: number) => new Date(start + second * SECOND);
    await post('/disable');
    await receive(...[0, 1, 2, 3].map((second) => anEvent({ account, at: at(second) })));
    await post('/enable');
    expect(await post('/replay', { from: at(1), to: at(3) })).toEqual(counts(2, 0, 0));
    await deliverAll();
    expect(sequencesAt('/range')).toEqual([2, 3]);
  });

  test('includes test events of its own endpoint only', async () => {
    const account = anAccount();
    const one = await anEndpoint(account, '/own-test');
    const other = await anEndpoint(account, '/other-test', ['webhook.test']);
    await one.post('/test');
    for (const [{ post }, events, answer] of [
      [one, ['webhook.test'], counts(0, 1, 0)],
      [one, undefined, counts(0, 0, 0)],
      [other, undefined, counts(0, 0, 0)],
    ] as const) {
      expect(await post('/replay', around({ events }))).toEqual(answer);
    }
  });

  test('queues each of many events once, also with concurrent requests', async () => {
    const account = anAccount();
    const EVENTS = 3_500;
    await receiveMany(account, EVENTS, 'invoice.paid');
    const { id, key, post } = await anEndpoint(account, '/many-replayed');
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('/replay', around())));
    const sum = (name: string) => answers.reduce((total, { body }) => total + body.data[name], 0);
    expect(sum('queued')).toBe(EVENTS);
    expect(sum('already_waiting')).toBe(3 * EVENTS);
    expect(await statesOf(key)).toEqual(Array.from({ length: EVENTS }, () => 'waiting'));
    // Later tests would send all of them.
    await deleteEndpoint(ports, account, id);
  });

  test('queues at most a hundred thousand deliveries for an account and day, and says when to ask again', async () => {
    const account = anAccount();
    const [one, other] = [await anEndpoint(account, '/a-day'), await anEndpoint(account, '/a-day')];
    await Promise.all([one, other].map(({ post }) => post('/disable')));
    await receiveMany(account, 3, 'invoice.paid');
    await Promise.all([one, other].map(({ post }) => post('/enable')));
    const today = clock.now().toISOString().slice(0, 10);
    const almostAll = 'update accounts set replayed = 99996, replayed_on = $2 where account_id = $1';
    await db.rows(almostAll, [account, today]);
    const both = await Promise.all([one, other].map(({ post }) => post('/replay', around())));
    expect(both.map(({ status }) => status).sort()).toEqual([202, 429]);
    const until = new Date(Date.parse(today) + DAY).toISOString();
    expect(both.find(({ status }) => status === 429)?.body).toMatchObject({
      message: `The replays of an account may queue 100000 deliveries a day. Narrow the range, or ask again after ${until}: what is queued already stays queued.`,
    });
    const queued = await Promise.all([one, other].map(async ({ key }) => (await statesOf(key)).length));
    expect(queued.reduce((all, n) => all + n)).toBeLessThanOrEqual(4);
    // Another replay of waiting deliveries queues nothing and does not count.
    const done = queued[0] === 3 ? one : other;
    expect(await done.post('/replay', around())).toEqual(counts(0, 3, 0));
    // Another account has its own limit.
    const neighbour = anAccount();
    await receive(anEvent({ account: neighbour }));
    const theirs = await anEndpoint(neighbour, '/a-day');
    expect(await theirs.post('/replay', around())).toEqual(counts(1, 0, 0));

    const tomorrow = { ...ports, clock: { now: () => new Date(Date.parse(until) + 1) } };
    const order = { from: new Date(around().from), to: new Date(around().to), eventTypes: null };
    for (const { id } of [one, other]) {
      expect(await replayEvents(tomorrow, account, id, { ...order, includeDelivered: false })).toMatchObject({
        ok: true,
      });
    }
    expect(await db.one('select replayed from accounts where account_id = $1', [account])).toEqual({
      replayed: 6 - queued.reduce((all, n) => all + n),
    });
  });

  test('is refused for more than fifty thousand events, and then queues nothing', async () => {
    const { account, key, post } = await aShop('/');
    await receive(anEvent({ account }));
    await deliverAll();
    await db.rows(
      `insert into events (account_id, sequence, id, kind, created_at, resource_id, version, data)
       select $1, n, 'evt_' || $1 || n, 'invoice.paid', now() - n * interval '1 second', 'inv', n, '{}'
       from generate_series(2, 50001) as n`,
      [account],
    );
    await db.rows('update accounts set last_sequence = 50001 where account_id = $1', [account]);
    const order = { from: clock.hence(-2 * DAY), to: clock.hence(DAY) };
    const events = ['invoice.created', 'invoice.paid'];
    expect(await post('/replay', { ...order, events })).toEqual(
      invalid({ to: ['The range must not have more than 50000 events: narrow it.'] }),
    );
    expect(await deliveriesOf(key)).toHaveLength(1);
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
    await receive(anEvent({ account }));
    const ending: Db = {
      ...db,
      async transaction(work) {
        await end(ports, account, id);
        return await db.transaction(work);
      },
    };
    const { from, to } = around();
    const order = { from: new Date(from), to: new Date(to), eventTypes: null, includeDelivered: true };
    expect(await replayEvents({ ...ports, db: ending }, account, id, order)).toEqual({ ok: false, refusal });
  });

  test.each<[object | string, Record<string, string[]>]>([
    ['', { from: ['The from field is required.'], to: ['The to field is required.'] }],
    [
      { from: 'yesterday', to: 5 },
      { from: ['The from is not a valid date.'], to: ['The to must be a string.'] },
    ],
    [{ from: clock.hence(0), to: clock.hence(-60_000) }, { to: ['The to must be a date after from.'] }],
    [{ from: '2026-11-01', to: '2026-11-01' }, { to: ['The to must be a date after from.'] }],
    [around({ events: [] }), { events: ['The events must have at least 1 items.'] }],
    [around({ events: ['invoice.sold'] }), { 'events.0': ['The selected events.0 is invalid.'] }],
    [
      around({ include_delivered: 'maybe' }),
      { include_delivered: ['The include delivered field must be true or false.'] },
    ],
  ])('%j is refused', async (body, errors) => {
    const { post } = await aShop('/');
    expect(await post('/replay', body)).toEqual(invalid(errors));
  });

  test('cannot start more than ninety days ago', async () => {
    const { post } = await aShop('/');
    const to = clock.hence(-89 * DAY);
    const oldest = clock.hence(-90 * DAY);
    expect(await post('/replay', { from: clock.hence(-90 * DAY - 1), to })).toEqual(
      invalid({ from: [`The from must be a date after or equal to ${oldest}.`] }),
    );
    expect((await post('/replay', { from: oldest, to })).status).toBe(202);
  });
});
