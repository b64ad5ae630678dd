import { expect, test } from '@jest/globals';
import type { AccountId, EndpointId } from '@quittance/shared/ids';
import { CANCEL_BATCH, cancelNextWaiting } from '../src/operations/cancel-deliveries.ts';
import { claimDeliveries, takeBackDeliveries } from '../src/operations/claim-deliveries.ts';
import { deleteEndpoint, readEndpoint } from '../src/operations/endpoints.ts';
import { pruneOldEvents } from '../src/operations/prune.ts';
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

/** Cancelled in three batches. */
const BACKLOG = 2 * CANCEL_BATCH + 500;

const opened = await openReceiverFixture();
const { fixture, receiver, arrivedAt, answerWith, aShop } = opened;
const caller = await opened.caller();

const stored = async (key: string) =>
  Object.fromEntries(
    (
      await fixture.db.rows<{ state: string; n: number }>(
        'select state, count(*)::int as n from deliveries where endpoint_key = $1 group by state',
        [key],
      )
    ).map(({ state, n }) => [state, n]),
  );

/** An endpoint with one due delivery and many that are due tomorrow. */
async function withBacklog(path: string): Promise<{ account: AccountId; key: string; id: EndpointId }> {
  const { account, key, id } = await aShop(`${path}`);
  await receiveMany(fixture.ports, account, BACKLOG);
  await fixture.db.rows(
    `update deliveries set due_at = due_at + interval '1 day' where endpoint_key = $1 and sequence > 1`,
    [key],
  );
  return { account, key, id: id as EndpointId };
}

/** Cancels what waits for endpoints that are disabled or deleted. @returns the steps that it took */
async function cancelAll(): Promise<number> {
  let steps = 0;
  while ((await cancelNextWaiting(fixture.ports)) > 0) steps += 1;
  return steps;
}

async function logOf(account: AccountId, id: string, status?: string) {
  const query = status === undefined ? '' : `&status=${status}`;
  const { body } = await caller.call('GET', `/api/webhooks/${id}/deliveries?limit=100${query}`, account);
  return (body.data as { status: string }[]).map((delivery) => delivery.status);
}

test('410 disables the endpoint with a reason and cancels its waiting deliveries', async () => {
  const { account, key, id } = await aShop('/answers-410');
  answerWith(500);
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliverAll(fixture.ports);
  answerWith(410);
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_2' }));
  await deliverAll(fixture.ports);

  await cancelAll();
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([
    { state: 'cancelled', attempts: 1 },
    { state: 'exhausted', attempts: 1 },
  ]);
  expect(await readEndpoint(fixture.ports, account, id)).toMatchObject({
    value: { enabled: false, disabledReason: 'The endpoint answered 410 Gone.' },
  });
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_3' }));
  fixture.clock.advance(3_600_000);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/answers-410')).toHaveLength(2);
});

test('a deleted endpoint is sent nothing more, and its secret is removed', async () => {
  const { account, key, id } = await aShop('/deleted-in-flight');
  answerWith(500);
  await receiveEvents(fixture.ports, anEvent({ account }), anEvent({ account, resource: 'inv_2' }));
  const claimed = await claimDeliveries(fixture.ports, { ...ROOM, capacity: 1 });
  expect(await deleteEndpoint(fixture.ports, account, id)).toMatchObject({ ok: true });
  // This attempt was in flight: its failure is recorded, and it is not retried.
  await send(fixture.ports, claimed);
  await receiveEvents(fixture.ports, anEvent({ account, resource: 'inv_3' }));
  fixture.clock.advance(3_600_000);
  await takeBackDeliveries(fixture.ports);
  await deliverAll(fixture.ports);
  expect(arrivedAt('/deleted-in-flight')).toHaveLength(1);
  await cancelAll();
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'cancelled', attempts: 1 }]);
  expect(await fixture.db.rows('select 1 from endpoint_secrets where endpoint_key = $1', [key])).toHaveLength(
    0,
  );
});

test('an endpoint that 410 disables is recorded without its backlog, which is cancelled in batches', async () => {
  const { account, key, id } = await withBacklog('/gone');
  const other = anAccount();
  const neighbour = await anEndpoint(fixture.ports, other, `${receiver.url}/neighbour`);
  await receiveEvents(fixture.ports, anEvent({ account: other }));
  receiver.answer((response, { path }) => response.writeHead(path === '/gone' ? 410 : 200).end());
  await deliver(fixture.ports);
  expect(await stored(neighbour.key)).toEqual({ delivered: 1 });
  // That transaction did not touch the backlog, and the log shows none of it as waiting.
  expect(await stored(key)).toEqual({ exhausted: 1, waiting: BACKLOG - 1 });
  expect(await logOf(account, id)).toEqual(Array(100).fill('cancelled'));
  expect(await logOf(account, id, 'cancelled')).toHaveLength(100);
  expect(await logOf(account, id, 'waiting')).toEqual([]);
  fixture.clock.advance(2 * 86_400_000);
  expect(await deliver(fixture.ports)).toEqual([]);

  expect(await cancelAll()).toBe(3);
  expect(await stored(key)).toEqual({ exhausted: 1, cancelled: BACKLOG - 1 });
  expect(await logOf(account, id, 'cancelled')).toHaveLength(100);
});

test('when an endpoint is enabled before its backlog is cancelled, the backlog stays cancelled and a replay queues it', async () => {
  const { account, key, id } = await withBacklog('/again');
  expect((await caller.call('POST', `/api/webhooks/${id}/disable`, account)).status).toBe(200);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  expect((await caller.call('POST', `/api/webhooks/${id}/enable`, account)).status).toBe(200);
  fixture.clock.advance(2 * 86_400_000);
  expect(await deliverAll(fixture.ports)).toEqual([]);
  expect(await stored(key)).toEqual({ cancelled: BACKLOG });
  expect(await cancelAll()).toBe(0);
  const day = (days: number) => new Date(fixture.clock.now().getTime() + days * 86_400_000).toISOString();
  const replayed = await caller.call('POST', `/api/webhooks/${id}/replay`, account, {
    from: day(-5),
    to: day(1),
  });
  expect(replayed.body.data.queued).toBe(BACKLOG);
  expect(await cancelAll()).toBe(0);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  // Later tests would send all of them.
  await deleteEndpoint(fixture.ports, account, id);
  await cancelAll();
});

test('a deleted endpoint is sent nothing, its untried deliveries are removed in batches, and tried ones stay in the log', async () => {
  const { account, key, id } = await withBacklog('/deleted');
  answerWith(503);
  await deliver(fixture.ports);
  expect((await deleteEndpoint(fixture.ports, account, id)).ok).toBe(true);
  expect(await stored(key)).toEqual({ waiting: BACKLOG });
  fixture.clock.advance(2 * 86_400_000);
  const sent = await deliverAll(fixture.ports);
  expect(sent.filter(({ delivery }) => delivery.endpointKey === key)).toEqual([]);
  expect(await cancelAll()).toBe(3);
  expect(await stored(key)).toEqual({ cancelled: 1 });
});

test('deliveries that were cancelled untried are removed when a disabled endpoint is deleted', async () => {
  const { account, key, id } = await withBacklog('/disabled-first');
  await caller.call('POST', `/api/webhooks/${id}/disable`, account);
  await cancelAll();
  expect(await stored(key)).toEqual({ cancelled: BACKLOG });
  await deleteEndpoint(fixture.ports, account, id);
  // A disabled endpoint has no queue, so the hourly pruning finds it.
  await pruneOldEvents(fixture.ports);
  expect(await stored(key)).toEqual({});
});

test('repeated registration, replay and deletion leave no rows', async () => {
  const account = anAccount();
  await receiveMany(fixture.ports, account, 50);
  const keys: string[] = [];
  for (let round = 0; round < 5; round++) {
    const { id, key } = await anEndpoint(fixture.ports, account, `${receiver.url}/again-and-again`);
    const now = fixture.clock.now().getTime();
    const [from, to] = [-30, 30].map((days) => new Date(now + days * 86_400_000).toISOString());
    const replayed = await caller.call('POST', `/api/webhooks/${id}/replay`, account, { from, to });
    expect(replayed.body.data.queued).toBe(50);
    await deleteEndpoint(fixture.ports, account, id);
    keys.push(key);
  }
  await cancelAll();
  for (const key of keys) expect(await stored(key)).toEqual({});
});
