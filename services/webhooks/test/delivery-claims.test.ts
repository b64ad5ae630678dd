import { expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import type { Statement } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import type { SendResult } from '../src/domain/outcome.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  LEASE_MS,
  renewClaims,
} from '../src/operations/claim-deliveries.ts';
import { createWebhookSender, type WebhookSender } from '../src/webhook-sender.ts';
import { startWorkers } from '../src/workers.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  deliverAll,
  deliveriesOf,
  insertedEndpoints,
  ROOM,
  receiveEvents,
  receiveMany,
  send,
  withinTransactions,
} from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const SECOND = 1_000;

const { fixture, receiver, withBacklog, aShop, answerWith } = await openReceiverFixture();

const take = (account: AccountId, count: number, name: string) =>
  receiveMany(fixture.ports, account, count, name);

const counted = (claimed: readonly ClaimedDelivery[]) => ({
  news: claimed.filter(({ retry }) => !retry).length,
  retries: claimed.filter(({ retry }) => retry).length,
});

const claimFast = (slowEndpoints: readonly string[] = []) =>
  claimDeliveries(fixture.ports, { pool: 'fast', capacity: 1_024, slowEndpoints });

test('a claim for the fast pool takes no retries and leaves their quarter and their due time', async () => {
  const { account, key } = await withBacklog('/apart', 20);
  await take(account, 40, 'new');
  const place = () =>
    fixture.db.one('select retry_due_at from endpoint_queues where endpoint_key = $1', [key]);
  const before = await place();
  fixture.clock.advance(1_000);
  const news = await claimFast();
  expect(counted(news)).toEqual({ news: 12, retries: 0 });
  // If each claim moved the due time back, they would wait until no other endpoint has retries.
  expect(await place()).toEqual(before);
  const retries = await claimDeliveries(fixture.ports, ROOM);
  expect(counted(retries)).toEqual({ news: 0, retries: 4 });
  await send(fixture.ports, [...news, ...retries]);
  await deliverAll(fixture.ports);
  // Without a due retry, no slot is kept for one.
  await take(account, 40, 'newer');
  const all = await claimFast();
  expect(counted(all)).toEqual({ news: 16, retries: 0 });
  await send(fixture.ports, all);
  await deliverAll(fixture.ports);
});

test('the fast pool takes only new deliveries to healthy endpoints', async () => {
  const { account } = await withBacklog('/good', 5);
  const failing = anAccount();
  await anEndpoint(fixture.ports, failing, `${receiver.url}/failing`);
  await take(failing, 5, 'new');
  await take(account, 5, 'new');
  const claimed = await claimFast();
  expect(claimed.map(({ pool, retry, sequence }) => ({ pool, retry, sequence }))).toEqual(
    [7, 8, 9, 10, 11].map((sequence) => ({ pool: 'fast', retry: false, sequence: `${sequence}` })),
  );
  // One attempt does not answer: until it ends, its endpoint is left out like one that fails.
  await take(account, 5, 'more');
  const [slow = ''] = claimed.map(({ endpointKey }) => endpointKey);
  expect(await claimFast([slow])).toHaveLength(0);
  const rest = await claimDeliveries(fixture.ports, ROOM);
  expect(rest.every(({ pool }) => pool === 'slow')).toBe(true);
  expect(counted(rest.filter(({ endpointKey }) => endpointKey === slow))).toEqual({ news: 5, retries: 5 });
  await send(fixture.ports, [...claimed, ...rest]);
  await deliverAll(fixture.ports);
});

test('a claim takes no more than its capacity, and one from every endpoint before a second from any', async () => {
  const backlogs: { account: AccountId; key: string }[] = [];
  for (let i = 0; i < 4; i++) backlogs.push(await withBacklog(`/even/${i}`, 0));
  for (const { account } of backlogs) await take(account, 20, 'new');
  const keys = backlogs.map(({ key }) => key);
  for (const [capacity, each] of [
    [3, [1, 1, 1]],
    [10, [3, 3, 2, 2]],
  ] as const) {
    const claimed = await claimDeliveries(fixture.ports, { pool: 'fast', capacity });
    const byKey = Map.groupBy(claimed, ({ endpointKey }) => endpointKey);
    expect([...byKey.keys()].every((key) => keys.includes(key))).toBe(true);
    expect([...byKey.values()].map((own) => own.length).toSorted((a, b) => b - a)).toEqual(each);
    await send(fixture.ports, claimed);
  }
  await deliverAll(fixture.ports);
});

test('claims are renewed without waiting for a transaction that records some of them', async () => {
  const { account } = await aShop('/renewed');
  await take(account, 2, 'held');
  const claimed = await claimDeliveries(fixture.ports, ROOM);
  const [first, second] = claimed;
  const until = async () =>
    (
      await fixture.db.rows<{ claimed_until: Date }>(
        'select claimed_until from deliveries where claim = $1 order by sequence',
        [first?.claim],
      )
    ).map(({ claimed_until }) => claimed_until.getTime() - fixture.clock.now().getTime());
  expect(await until()).toEqual([LEASE_MS, LEASE_MS]);
  fixture.clock.advance(SECOND);
  await fixture.db.transaction(async (trx) => {
    await trx.rows('select 1 from deliveries where endpoint_key = $1 and sequence = $2 for update', [
      first?.endpointKey,
      first?.sequence,
    ]);
    // It would wait for this transaction until the lock timeout.
    await renewClaims(fixture.ports, claimed);
  });
  expect(second).toBeDefined();
  expect(await until()).toEqual([LEASE_MS - SECOND, LEASE_MS]);
  await send(fixture.ports, claimed);
});

/** Workers with an attempt at an endpoint that never answers. */
async function hangingAttempt() {
  const { account, key } = await aShop('/hangs');
  receiver.answer(() => undefined);
  const sender = createWebhookSender({ publicOnly: false, timeoutMs: 60_000 });
  const ports = { ...fixture.ports, clock: systemClock, sender };
  const workers = startWorkers(ports);
  await receiveEvents(ports, anEvent({ account }));
  workers.wake();
  const claim = () =>
    fixture.db.one<{ claim: string; claimed_until: Date }>(
      `select claim, claimed_until from deliveries where endpoint_key = $1 and state = 'sending'`,
      [key],
    );
  const first = await eventually(claim);
  return {
    key,
    claim,
    first,
    async stop() {
      await workers.stop();
      await sender.close();
    },
    /** Other tests do not claim it. */
    async finish() {
      answerWith(200);
      await deliverAll(fixture.ports);
    },
  };
}

test('a claim is renewed for as long as its attempt is in flight', async () => {
  const { claim, first, stop, finish } = await hangingAttempt();
  const renewed = await eventually(async () => {
    const now = await claim();
    expect(now.claimed_until.getTime()).toBeGreaterThan(first.claimed_until.getTime());
    return now;
  });
  expect(renewed.claim).toBe(first.claim);
  await stop();
  await finish();
});

test('a stop releases attempts that hang, and another replica sends them at once', async () => {
  const { key, stop, finish } = await hangingAttempt();
  const start = performance.now();
  await stop();
  expect(performance.now() - start).toBeLessThan(12_000);
  expect(await fixture.db.rows(`select 1 from deliveries where state = 'sending'`)).toHaveLength(0);
  expect(await fixture.db.rows('select 1 from attempts where endpoint_key = $1', [key])).toHaveLength(0);
  await finish();
  expect(await deliveriesOf(fixture.db, key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

/** Each has two slots: together more than the 2,048 attempts that a process may have in flight. */
const ENDPOINTS = process.env['PROOFS'] === 'full' ? 2_000 : 1_100;

/** Endpoints of many accounts; one event reaches twenty of them. */
async function manyEndpoints(count: number, url: string): Promise<AccountId[]> {
  const accounts = Array.from({ length: count / 20 }, anAccount);
  for (const account of accounts)
    await insertedEndpoints(fixture.ports, account, Array<string>(20).fill(url));
  return accounts;
}

test('a thousand endpoints that hang delay no first attempt at a healthy endpoint', async () => {
  let hanging = 0;
  let most = 0;
  const given = new Set<(result: SendResult) => void>();
  const sender: WebhookSender = {
    async send({ url, headers }) {
      if (url.startsWith('http://hang')) {
        most = Math.max(most, ++hanging);
        return await new Promise((resolve) => given.add(resolve));
      }
      arrived.set(`${headers['webhook-id']}`, performance.now());
      return { kind: 'answered', status: 200, retryAfter: undefined, excerpt: '' };
    },
    async close() {
      for (const resolve of given) resolve({ kind: 'stopped' });
    },
  };
  const arrived = new Map<string, number>();
  const ports = { ...fixture.ports, clock: systemClock, sender };
  const good = anAccount();
  await anEndpoint(fixture.ports, good, 'http://good.example/');
  const workers = startWorkers(ports);
  const tell = async (): Promise<number> => {
    const event = anEvent({ account: good, resource: `inv_${Math.random()}` });
    await receiveEvents(ports, event);
    const begun = performance.now();
    workers.wake();
    await eventually(() => expect(arrived.has(event.id)).toBe(true), 20_000, 2);
    return (arrived.get(event.id) ?? 0) - begun;
  };
  try {
    const before: number[] = [];
    for (let i = 0; i < 20; i++) before.push(await tell());
    const strangers = await manyEndpoints(ENDPOINTS, 'http://hang.example/');
    for (const account of strangers)
      await receiveEvents(
        ports,
        ...Array.from({ length: 3 }, (_, i) => anEvent({ account, resource: `inv_${i}` })),
      );
    workers.wake();
    const after: number[] = [];
    for (let i = 0; i < 20; i++) after.push(await tell());
    await eventually(() => expect(hanging).toBe(512), 20_000);
    for (let i = 0; i < 20; i++) after.push(await tell());
    expect(most).toBe(512);
    const worst = (took: number[]) => took.toSorted((a, b) => a - b)[Math.floor(0.95 * took.length)] ?? 0;
    // With a single pool it would wait for attempts that never end.
    expect(worst(after)).toBeLessThan(2 * worst(before) + patient(250));
  } finally {
    await workers.stop();
  }
});

test('a claim reads only the index of the queues that it may take from, however many others wait', async () => {
  const account = anAccount();
  await fixture.db.rows(
    `with made as (
       insert into endpoints (id, account_id, url, event_types, created_at)
       select 'whe_' || n, $1, 'https://shop.example/', '{invoice.created}', $2 from generate_series(1, 5000) as n
       returning key)
     insert into endpoint_queues (endpoint_key, retry_due_at, has_succeeded, consecutive_failures)
     select key, $2::timestamptz - key * interval '1 second', key % 3 > 0, key % 2 * 3 from made`,
    [account, fixture.clock.now()],
  );
  await receiveEvents(fixture.ports, anEvent({ account }));
  const tables = ['endpoint_queues', 'deliveries', 'events', 'endpoints', 'endpoint_secrets'];
  for (const table of tables) await onServer(fixture.database.adminUrl, `vacuum analyze webhooks.${table}`);
  const plans = new Map<string, string>();
  const db = withinTransactions(
    fixture.db,
    (trx) =>
      async <T extends object>(sql: Statement | string, values: readonly unknown[] = []) => {
        const { name, text } = sql as Statement;
        plans.set(name, JSON.stringify(await trx.rows(`explain ${text}`, values)));
        return await trx.rows<T>(sql, values);
      },
  );
  await fixture.db.rows(
    'update endpoint_queues set has_succeeded = true, consecutive_failures = 0 where endpoint_key % 250 = 0',
  );
  const claim = (pool: 'fast' | 'slow') => claimDeliveries({ ...fixture.ports, db }, { pool, capacity: 40 });
  expect(await claim('fast')).not.toEqual([]);
  expect(await claim('slow')).not.toEqual([]);
  expect([...plans.keys()]).toEqual([
    ...['queues_lock_healthy', 'deliveries_claim', 'targets_of_queues', 'queues_lock_due'],
  ]);
  expect(plans.get('queues_lock_healthy')).toMatch(
    /Index Scan using endpoint_queues_healthy_due on endpoint_queues/,
  );
  for (const index of ['endpoint_queues_new_due', 'endpoint_queues_retry_due'])
    expect(plans.get('queues_lock_due')).toMatch(new RegExp(`Index Scan using ${index} on endpoint_queues`));
  for (const index of ['deliveries_sending', 'deliveries_waiting'])
    expect(plans.get('deliveries_claim')).toMatch(new RegExp(`using ${index} on deliveries`));
  for (const name of ['queues_lock_healthy', 'queues_lock_due'])
    expect(plans.get(name)).not.toMatch(/Seq Scan/);
  expect(plans.get('deliveries_claim')).not.toMatch(/Seq Scan on deliveries/);
});
