import { expect, test } from '@jest/globals';
import { CANCEL_BATCH, cancelNextWaiting } from '../src/operations/cancel-deliveries.ts';
import { deleteEndpoint } from '../src/operations/endpoints.ts';
import { pruneOldEvents } from '../src/operations/prune.ts';
import { anAccount, anEvent, DAY, HOUR, openFixture } from './fixture.ts';

const fixture = await openFixture();
const { db, clock, ports, receiver, answerWith, call, receive, anEndpoint, claim } = fixture;
const { send, deliver, deliverAll, deliveriesOf, takeBack, receiveMany, aShop } = fixture;
const { arrivedAt } = fixture;

/** Cancelled in three batches. */
const BACKLOG = 2 * CANCEL_BATCH + 500;

/** How many deliveries of an endpoint have each state. */
async function stored(key: string): Promise<Record<string, number>> {
  const count = 'select state, count(*)::int as n from deliveries where endpoint_key = $1 group by state';
  const rows = await db.rows<{ state: string; n: number }>(count, [key]);
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

/** An endpoint with one due delivery and many that are due tomorrow. */
async function withBacklog(path: string) {
  const shop = await aShop(path);
  await receiveMany(shop.account, BACKLOG);
  await db.rows(
    `update deliveries set due_at = due_at + interval '1 day' where endpoint_key = $1 and sequence > 1`,
    [shop.key],
  );
  return shop;
}

/** Cancels what waits for endpoints that are disabled or deleted. @returns the steps that it took */
async function cancelAll(): Promise<number> {
  let steps = 0;
  while ((await cancelNextWaiting(ports)) > 0) steps += 1;
  return steps;
}

test('a deleted endpoint is sent nothing more, and its secret is removed', async () => {
  const { account, key, id } = await aShop('/deleted-in-flight');
  answerWith(500);
  await receive(anEvent({ account }), anEvent({ account, resource: 'inv_2' }));
  const claimed = await claim({ capacity: 1 });
  expect(await deleteEndpoint(ports, account, id)).toMatchObject({ ok: true });
  // This attempt was in flight: its failure is recorded, and it is not retried.
  await send(claimed);
  await receive(anEvent({ account, resource: 'inv_3' }));
  clock.advance(HOUR);
  await takeBack();
  await deliverAll();
  expect(arrivedAt('/deleted-in-flight')).toHaveLength(1);
  await cancelAll();
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'cancelled', attempts: 1 }]);
  expect(await db.rows('select 1 from endpoint_secrets where endpoint_key = $1', [key])).toHaveLength(0);
});

test('an endpoint that 410 disables is recorded without its backlog, which is cancelled in batches', async () => {
  const { account, key, path, shown } = await withBacklog('/gone');
  const neighbour = await aShop('/neighbour');
  const logOf = async (query = '') =>
    (await call('GET', `${path}/deliveries?limit=100${query}`, account)).body.data.map(
      ({ status }: { status: string }) => status,
    );
  await receive(anEvent({ account: neighbour.account }));
  receiver.answer((response, { path }) => response.writeHead(path === '/gone' ? 410 : 200).end());
  await deliver();
  expect(await stored(neighbour.key)).toEqual({ delivered: 1 });
  expect(await shown()).toMatchObject({ enabled: false, disabled_reason: 'The endpoint answered 410 Gone.' });
  // That transaction did not touch the backlog, and the log shows none of it as waiting.
  expect(await stored(key)).toEqual({ exhausted: 1, waiting: BACKLOG - 1 });
  expect(await logOf()).toEqual(Array(100).fill('cancelled'));
  expect(await logOf('&status=cancelled')).toHaveLength(100);
  expect(await logOf('&status=waiting')).toEqual([]);
  clock.advance(2 * DAY);
  expect(await deliver()).toEqual([]);

  expect(await cancelAll()).toBe(3);
  expect(await stored(key)).toEqual({ exhausted: 1, cancelled: BACKLOG - 1 });
  expect(await logOf('&status=cancelled')).toHaveLength(100);
});

test('when an endpoint is enabled before its backlog is cancelled, the backlog stays cancelled and a replay queues it', async () => {
  const { account, key, id, post } = await withBacklog('/again');
  expect((await post('/disable')).status).toBe(200);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  expect((await post('/enable')).status).toBe(200);
  clock.advance(2 * DAY);
  expect(await deliverAll()).toEqual([]);
  expect(await stored(key)).toEqual({ cancelled: BACKLOG });
  expect(await cancelAll()).toBe(0);
  const replayed = await post('/replay', { from: clock.hence(-5 * DAY), to: clock.hence(DAY) });
  expect(replayed.body.data.queued).toBe(BACKLOG);
  expect(await cancelAll()).toBe(0);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  // Later tests would send all of them.
  await deleteEndpoint(ports, account, id);
  await cancelAll();
});

test('a deleted endpoint is sent nothing, its untried deliveries are removed in batches, and tried ones stay in the log', async () => {
  const { account, key, id } = await withBacklog('/deleted');
  answerWith(503);
  await deliver();
  expect((await deleteEndpoint(ports, account, id)).ok).toBe(true);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  clock.advance(2 * DAY);
  const sent = await deliverAll();
  expect(sent.filter(({ delivery }) => delivery.endpointKey === key)).toEqual([]);
  expect(await cancelAll()).toBe(3);
  expect(await stored(key)).toEqual({ cancelled: 1 });
});

test('deliveries that were cancelled untried are removed when a disabled endpoint is deleted', async () => {
  const { account, key, id, post } = await withBacklog('/disabled-first');
  await post('/disable');
  await cancelAll();
  expect(await stored(key)).toEqual({ cancelled: BACKLOG });
  await deleteEndpoint(ports, account, id);
  // A disabled endpoint has no queue, so the hourly pruning finds it.
  await pruneOldEvents(ports);
  expect(await stored(key)).toEqual({});
});

test('repeated registration, replay and deletion leave no rows', async () => {
  const account = anAccount();
  await receiveMany(account, 50);
  const keys: string[] = [];
  for (let round = 0; round < 5; round++) {
    const { id, key, post } = await anEndpoint(account, '/again-and-again');
    const replayed = await post('/replay', { from: clock.hence(-30 * DAY), to: clock.hence(30 * DAY) });
    expect(replayed.body.data.queued).toBe(50);
    await deleteEndpoint(ports, account, id);
    keys.push(key);
  }
  await cancelAll();
  for (const key of keys) expect(await stored(key)).toEqual({});
});
