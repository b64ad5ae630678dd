import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { startDeliveryWorker } from '../src/delivery-worker.ts';
import type { SendResult } from '../src/domain/outcome.ts';
import type { ClaimedDelivery } from '../src/operations/claim-deliveries.ts';
import type { WebhookSender } from '../src/webhook-sender.ts';
import { anAccount, openFixture, SECOND } from './fixture.ts';

const fixture = await openFixture();
const { db, clock, ports, answerWith, claim, send, deliverAll, receiveMany, aShop } = fixture;
const { statesOf } = fixture;

const counted = (claimed: readonly ClaimedDelivery[]) => ({
  news: claimed.filter(({ retry }) => !retry).length,
  retries: claimed.filter(({ retry }) => retry).length,
});

/** A healthy endpoint with this many due retries. */
async function withBacklog(path: string, backlog: number) {
  const shop = await aShop(path);
  answerWith(500);
  await receiveMany(shop.account, backlog);
  await deliverAll();
  answerWith(200);
  await receiveMany(shop.account, 1);
  await deliverAll();
  clock.advance(6 * SECOND);
  return shop;
}

test('new deliveries do not wait for their endpoint’s backlog of retries, nor the backlog for new deliveries', async () => {
  const { account, key } = await withBacklog('/backlog', 20);
  await receiveMany(account, 40);
  const first = await claim();
  expect(counted(first)).toEqual({ news: 12, retries: 4 });
  // When new deliveries end, others follow; retries keep their quarter.
  await send(first.filter(({ retry }) => !retry));
  const second = await claim();
  expect(counted(second)).toEqual({ news: 12, retries: 0 });
  await send(first.filter(({ retry }) => retry));
  const third = await claim();
  expect(counted(third)).toEqual({ news: 0, retries: 4 });
  await send([...second, ...third]);
  await deliverAll();
  expect(new Set(await statesOf(key))).toEqual(new Set(['delivered']));
});

test('the delivery worker sends an endpoint three new deliveries for each retry while both are due', async () => {
  const { account, key } = await withBacklog('/worker', 20);
  await receiveMany(account, 40);
  const hanging = new Set<(result: SendResult) => void>();
  const sender: WebhookSender = {
    send: () => new Promise((resolve) => hanging.add(resolve)),
    async close() {
      for (const resolve of hanging) resolve({ kind: 'stopped' });
    },
  };
  const worker = startDeliveryWorker({ ...ports, sender });
  try {
    const inFlight = `select retry, count(*)::int as n from deliveries
       where endpoint_key = $1 and state = 'sending' group by retry order by retry`;
    const expected = [
      { retry: false, n: 12 },
      { retry: true, n: 4 },
    ];
    await eventually(async () => expect(await db.rows(inFlight, [key])).toEqual(expected));
  } finally {
    await worker.stop();
  }
  await deliverAll();
});

test('a backlog of retries leaves a quarter of the slots to new deliveries', async () => {
  const { account } = await withBacklog('/alone', 20);
  const retries = await claim();
  expect(counted(retries)).toEqual({ news: 0, retries: 12 });
  expect(await claim()).toHaveLength(0);
  await receiveMany(account, 10);
  const news = await claim();
  expect(counted(news)).toEqual({ news: 4, retries: 0 });
  await send([...retries, ...news]);
  await deliverAll();
});

test('a half-open circuit sends one delivery at a time, the longest waiting first', async () => {
  const { account, key } = await aShop('/one');
  answerWith(500);
  await receiveMany(account, 6);
  await deliverAll();
  clock.advance(6 * SECOND);
  await receiveMany(account, 3);
  const retries: boolean[] = [];
  for (let i = 0; i < 9; i++) {
    const claimed = await claim();
    expect(claimed).toHaveLength(1);
    retries.push(...claimed.map(({ retry }) => retry));
    await send(claimed);
  }
  expect(retries).toEqual([...Array(6).fill(true), ...Array(3).fill(false)]);
  expect(new Set(await statesOf(key))).toEqual(new Set(['waiting']));
  // Other tests do not claim what is left of it.
  answerWith(200);
  clock.advance(60 * SECOND);
  await deliverAll();
});

test('one slot at a time goes round all endpoints, also to those whose deliveries are younger than every backlog', async () => {
  const shops = [];
  for (let i = 0; i < 4; i++) shops.push(await aShop('/round'));
  answerWith(500);
  for (const { account } of shops) await receiveMany(account, 3);
  await deliverAll();
  answerWith(200);
  clock.advance(60 * SECOND);
  shops.push(await aShop('/young'));
  await receiveMany(shops.at(-1)?.account ?? anAccount(), 1);
  const served: string[] = [];
  for (let i = 0; i < shops.length; i++) {
    clock.advance(1);
    const claimed = await claim({ pool: 'slow', capacity: 1 });
    served.push(...claimed.map(({ endpointKey }) => endpointKey));
    await send(claimed);
  }
  expect(new Set(served)).toEqual(new Set(shops.map(({ key }) => key)));
  await deliverAll();
});

test('a delivery that its owner requested again is claimed as a retry', async () => {
  const { account, key } = await aShop('/asked');
  await receiveMany(account, 1);
  await deliverAll();
  await receiveMany(account, 20);
  await db.rows(`update deliveries set manual = true where endpoint_key = $1 and state = 'waiting'`, [key]);
  await db.rows(
    'update endpoint_queues set retry_due_at = new_due_at, new_due_at = null where endpoint_key = $1',
    [key],
  );
  await receiveMany(account, 20);
  expect(counted(await claim())).toEqual({ news: 12, retries: 4 });
});

const claimFast = (slowEndpoints: readonly string[] = []) =>
  claim({ pool: 'fast', capacity: 1_024, slowEndpoints });

test('a claim for the fast pool takes no retries and leaves their quarter and their due time', async () => {
  const { account, key } = await withBacklog('/apart', 20);
  await receiveMany(account, 40);
  const place = () => db.one('select retry_due_at from endpoint_queues where endpoint_key = $1', [key]);
  const before = await place();
  clock.advance(1_000);
  const news = await claimFast();
  expect(counted(news)).toEqual({ news: 12, retries: 0 });
  // If each claim moved the due time back, they would wait until no other endpoint has retries.
  expect(await place()).toEqual(before);
  const retries = await claim();
  expect(counted(retries)).toEqual({ news: 0, retries: 4 });
  await send([...news, ...retries]);
  await deliverAll();
  // Without a due retry, no slot is kept for one.
  await receiveMany(account, 40);
  const all = await claimFast();
  expect(counted(all)).toEqual({ news: 16, retries: 0 });
  await send(all);
  await deliverAll();
});

test('the fast pool takes only new deliveries to healthy endpoints', async () => {
  const { account } = await withBacklog('/good', 5);
  const failing = await aShop('/failing');
  await receiveMany(failing.account, 5);
  await receiveMany(account, 5);
  const claimed = await claimFast();
  expect(claimed.map(({ pool, retry, sequence }) => ({ pool, retry, sequence }))).toEqual(
    [7, 8, 9, 10, 11].map((sequence) => ({ pool: 'fast', retry: false, sequence: `${sequence}` })),
  );
  // One attempt does not answer: until it ends, its endpoint is left out like one that fails.
  await receiveMany(account, 5);
  const [slow = ''] = claimed.map(({ endpointKey }) => endpointKey);
  expect(await claimFast([slow])).toHaveLength(0);
  const rest = await claim();
  expect(rest.every(({ pool }) => pool === 'slow')).toBe(true);
  expect(counted(rest.filter(({ endpointKey }) => endpointKey === slow))).toEqual({ news: 5, retries: 5 });
  await send([...claimed, ...rest]);
  await deliverAll();
});

test.each(['fast', 'slow'] as const)(
  'a claim for the %s pool takes no more than its capacity, and one from every endpoint before a second from any',
  async (pool) => {
    const shops = [];
    for (let i = 0; i < 4; i++) shops.push(await withBacklog(`/even/${i}`, 0));
    for (const { account } of shops) await receiveMany(account, 20);
    const keys = shops.map(({ key }) => key);
    for (const [capacity, each] of [
      [3, [1, 1, 1]],
      [10, [3, 3, 2, 2]],
    ] as const) {
      const claimed = await claim({ pool, capacity });
      const byKey = Map.groupBy(claimed, ({ endpointKey }) => endpointKey);
      expect([...byKey.keys()].every((key) => keys.includes(key))).toBe(true);
      expect([...byKey.values()].map((own) => own.length).toSorted((a, b) => b - a)).toEqual(each);
      await send(claimed);
    }
    await deliverAll();
  },
);
