import { expect, test } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import type { Statement } from '@quittance/shared/db';
import { onServer } from '@quittance/testkit/databases';
import { eventually } from '@quittance/testkit/eventually';
import type { SendResult } from '../src/domain/outcome.ts';
import { claimDeliveries, LEASE_MS, renewClaims } from '../src/operations/claim-deliveries.ts';
import { recordEvents } from '../src/operations/events.ts';
import { createWebhookSender, type WebhookSender } from '../src/webhook-sender.ts';
import { startWorkers } from '../src/workers.ts';
import { anAccount, anEvent, openFixture, SECOND, withinTransactions } from './fixture.ts';

const fixture = await openFixture();
const { database, db, clock, ports, receiver, answerWith, receive, claim, send } = fixture;
const { deliverAll, deliveriesOf, receiveMany, aShop, insertEndpoints } = fixture;

test('claims are renewed without waiting for a transaction that records some of them', async () => {
  const { account } = await aShop('/renewed');
  await receiveMany(account, 2);
  const claimed = await claim();
  const [first, second] = claimed;
  const until = async () => {
    const sql = 'select claimed_until from deliveries where claim = $1 order by sequence';
    const rows = await db.rows<{ claimed_until: Date }>(sql, [first?.claim]);
    return rows.map(({ claimed_until }) => claimed_until.getTime() - clock.now().getTime());
  };
  expect(await until()).toEqual([LEASE_MS, LEASE_MS]);
  clock.advance(SECOND);
  await db.transaction(async (trx) => {
    await trx.rows('select 1 from deliveries where endpoint_key = $1 and sequence = $2 for update', [
      first?.endpointKey,
      first?.sequence,
    ]);
    // It would wait for this transaction until the lock timeout.
    await renewClaims(ports, claimed);
  });
  expect(second).toBeDefined();
  expect(await until()).toEqual([LEASE_MS - SECOND, LEASE_MS]);
  await send(claimed);
});

test('a claim is renewed while its attempt is in flight, and a stop releases it, so that another replica sends it', async () => {
  const { account, key } = await aShop('/hangs');
  receiver.answer(() => undefined);
  const sender = createWebhookSender({ publicOnly: false, timeoutMs: 60_000 });
  const workers = startWorkers({ ...ports, clock: systemClock, sender });
  await receive(anEvent({ account }));
  workers.wake();
  const inFlight = () =>
    db.one<{ claim: string; claimed_until: Date }>(
      `select claim, claimed_until from deliveries where endpoint_key = $1 and state = 'sending'`,
      [key],
    );
  const first = await eventually(inFlight);
  const renewed = await eventually(async () => {
    const now = await inFlight();
    expect(now.claimed_until.getTime()).toBeGreaterThan(first.claimed_until.getTime());
    return now;
  });
  expect(renewed.claim).toBe(first.claim);

  const start = performance.now();
  await workers.stop();
  await sender.close();
  expect(performance.now() - start).toBeLessThan(12_000);
  expect(await db.rows(`select 1 from deliveries where state = 'sending'`)).toHaveLength(0);
  expect(await db.rows('select 1 from attempts where endpoint_key = $1', [key])).toHaveLength(0);
  answerWith(200);
  await deliverAll({ clock: systemClock });
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

/** Each has two slots: together more than the 2,048 attempts that a process may have in flight. */
const ENDPOINTS = process.env['PROOFS'] === 'full' ? 2_000 : 1_100;

test('a thousand endpoints that hang keep no first attempt at a healthy endpoint waiting', async () => {
  let hanging = 0;
  let most = 0;
  const given = new Set<(result: SendResult) => void>();
  const sender: WebhookSender = {
    async send({ url, headers }) {
      if (url.startsWith('http://hang')) {
        most = Math.max(most, ++hanging);
        return await new Promise((resolve) => given.add(resolve));
      }
      arrived.add(`${headers['webhook-id']}`);
      return { kind: 'answered', status: 200, retryAfter: undefined, excerpt: '' };
    },
    async close() {
      for (const resolve of given) resolve({ kind: 'stopped' });
    },
  };
  const arrived = new Set<string>();
  const { account: good } = await aShop('http://good.example/');
  const workers = startWorkers({ ...ports, clock: systemClock, sender });
  /** It arrives though attempts that never end are in flight. */
  const tell = async (): Promise<void> => {
    const event = anEvent({ account: good });
    await db.transaction((trx) => recordEvents(trx, [event], { ...ports, clock: systemClock }));
    workers.wake();
    await eventually(() => expect(arrived).toContain(event.id), 20_000, 2);
  };
  try {
    // It has accepted one, and is healthy.
    await tell();
    const strangers = Array.from({ length: ENDPOINTS / 20 }, anAccount);
    // One event reaches all twenty endpoints of an account.
    for (const account of strangers) {
      await insertEndpoints(account, Array<string>(20).fill('http://hang.example/'));
      await receiveMany(account, 3);
    }
    workers.wake();
    for (let i = 0; i < 20; i++) await tell();
    await eventually(() => expect(hanging).toBe(512), 20_000);
    // With a single pool these would wait for attempts that never end.
    for (let i = 0; i < 20; i++) await tell();
    expect([hanging, most]).toEqual([512, 512]);
  } finally {
    await workers.stop();
  }
});

test('a claim reads only the index of the queues that it may take from, however many others wait', async () => {
  const account = anAccount();
  await db.rows(
    `with made as (
       insert into endpoints (id, account_id, url, event_types, created_at)
       select 'whe_' || n, $1, 'https://shop.example/', '{invoice.created}', $2 from generate_series(1, 5000) as n
       returning key)
     insert into endpoint_queues (endpoint_key, retry_due_at, has_succeeded, consecutive_failures)
     select key, $2::timestamptz - key * interval '1 second', key % 3 > 0, key % 2 * 3 from made`,
    [account, clock.now()],
  );
  await receive(anEvent({ account }));
  const tables = ['endpoint_queues', 'deliveries', 'events', 'endpoints', 'endpoint_secrets'];
  for (const table of tables) await onServer(database.adminUrl, `vacuum analyze webhooks.${table}`);
  const plans = new Map<string, string>();
  const explaining = withinTransactions(
    db,
    (trx) =>
      async <T extends object>(sql: Statement | string, values: readonly unknown[] = []) => {
        const { name, text } = sql as Statement;
        plans.set(name, JSON.stringify(await trx.rows(`explain ${text}`, values)));
        return await trx.rows<T>(sql, values);
      },
  );
  await db.rows(
    'update endpoint_queues set has_succeeded = true, consecutive_failures = 0 where endpoint_key % 250 = 0',
  );
  const claimFor = (pool: 'fast' | 'slow') =>
    claimDeliveries({ ...ports, db: explaining }, { pool, capacity: 40 });
  expect(await claimFor('fast')).not.toEqual([]);
  expect(await claimFor('slow')).not.toEqual([]);
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
