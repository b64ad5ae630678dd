import { expect, test } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { startDeliveryWorker } from '../src/delivery-worker.ts';
import type { SendResult } from '../src/domain/outcome.ts';
import { type ClaimedDelivery, claimDeliveries } from '../src/operations/claim-deliveries.ts';
import type { WebhookSender } from '../src/webhook-sender.ts';
import { anAccount, anEndpoint, deliverAll, deliveriesOf, ROOM, receiveMany, send } from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const SECOND = 1_000;

const { fixture, receiver, answerWith, withBacklog, aShop } = await openReceiverFixture();

const take = (account: AccountId, count: number, name: string) =>
  receiveMany(fixture.ports, account, count, name);

const counted = (claimed: readonly ClaimedDelivery[]) => ({
  news: claimed.filter(({ retry }) => !retry).length,
  retries: claimed.filter(({ retry }) => retry).length,
});

test('new deliveries do not wait for their endpoint’s backlog of retries, nor the backlog for new deliveries', async () => {
  const { account, key } = await withBacklog('/backlog', 20);
  await take(account, 40, 'new');
  const first = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(first)).toEqual({ news: 12, retries: 4 });
  // When new deliveries end, others follow; retries keep their quarter.
  await send(
    fixture.ports,
    first.filter(({ retry }) => !retry),
  );
  const second = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(second)).toEqual({ news: 12, retries: 0 });
  await send(
    fixture.ports,
    first.filter(({ retry }) => retry),
  );
  const third = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(third)).toEqual({ news: 0, retries: 4 });
  await send(fixture.ports, [...second, ...third]);
  await deliverAll(fixture.ports);
  expect(new Set((await deliveriesOf(fixture.db, key)).map(({ state }) => state))).toEqual(
    new Set(['delivered']),
  );
});

test('the delivery worker sends an endpoint three new deliveries for each retry while both are due', async () => {
  const { account, key } = await withBacklog('/worker', 20);
  await take(account, 40, 'new');
  const hanging = new Set<(result: SendResult) => void>();
  const sender: WebhookSender = {
    send: () => new Promise((resolve) => hanging.add(resolve)),
    async close() {
      for (const resolve of hanging) resolve({ kind: 'stopped' });
    },
  };
  const worker = startDeliveryWorker({ ...fixture.ports, sender });
  try {
    await eventually(async () =>
      expect(
        await fixture.db.rows(
          `select retry, count(*)::int as n from deliveries where endpoint_key = $1 and state = 'sending'
           group by retry order by retry`,
          [key],
        ),
      ).toEqual([
        { retry: false, n: 12 },
        { retry: true, n: 4 },
      ]),
    );
  } finally {
    await worker.stop();
  }
  await deliverAll(fixture.ports);
});

test('a backlog of retries leaves a quarter of the slots to new deliveries', async () => {
  const { account } = await withBacklog('/alone', 20);
  const retries = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(retries)).toEqual({ news: 0, retries: 12 });
  expect(await claimDeliveries(fixture.ports, ROOM)).toHaveLength(0);
  await take(account, 10, 'new');
  const news = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(news)).toEqual({ news: 4, retries: 0 });
  await send(fixture.ports, [...retries, ...news]);
  await deliverAll(fixture.ports);
});

test('a half-open circuit sends one delivery at a time, the longest waiting first', async () => {
  const { account, key } = await aShop('/one');
  answerWith(500);
  await take(account, 6, 'failed');
  await deliverAll(fixture.ports);
  fixture.clock.advance(6 * SECOND);
  await take(account, 3, 'new');
  const retries: boolean[] = [];
  for (let i = 0; i < 9; i++) {
    const claimed = await claimDeliveries(fixture.ports, ROOM);
    expect(claimed).toHaveLength(1);
    retries.push(...claimed.map(({ retry }) => retry));
    await send(fixture.ports, claimed);
  }
  expect(retries).toEqual([...Array(6).fill(true), ...Array(3).fill(false)]);
  expect((await deliveriesOf(fixture.db, key)).every(({ state }) => state === 'waiting')).toBe(true);
  // Other tests do not claim what is left of it.
  answerWith(200);
  fixture.clock.advance(60 * SECOND);
  await deliverAll(fixture.ports);
});

test('one slot at a time goes round all endpoints, also to those whose deliveries are younger than every backlog', async () => {
  const accounts = Array.from({ length: 4 }, anAccount);
  const backlogs: string[] = [];
  for (const account of accounts)
    backlogs.push((await anEndpoint(fixture.ports, account, `${receiver.url}/round`)).key);
  answerWith(500);
  for (const account of accounts) await take(account, 3, 'failed');
  await deliverAll(fixture.ports);
  answerWith(200);
  fixture.clock.advance(60 * SECOND);
  const young = anAccount();
  const { key } = await anEndpoint(fixture.ports, young, `${receiver.url}/young`);
  await take(young, 1, 'young');
  const served: string[] = [];
  for (let i = 0; i <= backlogs.length; i++) {
    fixture.clock.advance(1);
    const claimed = await claimDeliveries(fixture.ports, { pool: 'slow', capacity: 1 });
    served.push(...claimed.map(({ endpointKey }) => endpointKey));
    await send(fixture.ports, claimed);
  }
  expect(new Set(served)).toEqual(new Set([...backlogs, key]));
  await deliverAll(fixture.ports);
});

test('a delivery that its owner requested again is claimed as a retry', async () => {
  const { account, key } = await aShop('/asked');
  await take(account, 1, 'first');
  await deliverAll(fixture.ports);
  await take(account, 20, 'asked');
  await fixture.db.rows(`update deliveries set manual = true where endpoint_key = $1 and state = 'waiting'`, [
    key,
  ]);
  await fixture.db.rows(
    'update endpoint_queues set retry_due_at = new_due_at, new_due_at = null where endpoint_key = $1',
    [key],
  );
  await take(account, 20, 'new');
  expect(counted(await claimDeliveries(fixture.ports, ROOM))).toEqual({ news: 12, retries: 4 });
});
