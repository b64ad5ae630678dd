import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { sleep } from '@quittance/shared/clock';
import { loadConfig } from '@quittance/shared/config';
import type { AccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { Webhook } from 'standardwebhooks';
import { configSchema } from '../src/config.ts';
import { eventTypes } from '../src/domain/event-types.ts';
import type { MerchantEvent } from '../src/operations/events.ts';
import { startWebhooks, type WebhooksService } from '../src/service.ts';
import {
  anAccount,
  anEndpoint,
  anEvent,
  type Fixture,
  IDENTITY_SECRET,
  openFixture,
  SECRETS_KEY,
} from './fixture.ts';

let fixture: Fixture;
let nats: Awaited<ReturnType<typeof testNats>>;
let sender: Bus;
let receiver: Receiver;
const replicas: WebhooksService[] = [];

const configFor = (): ReturnType<typeof configSchema.parse> =>
  loadConfig('webhooks', configSchema, {
    PORT: '1',
    DATABASE_URL: fixture.database.urlOf('webhooks'),
    NATS_URL: nats.url,
    IDENTITY_SECRET,
    PUBLIC_URL: 'http://quittance.test',
    LOG_LEVEL: 'silent',
    WEBHOOK_SECRETS_KEY: SECRETS_KEY,
    ALLOW_INSECURE_ENDPOINTS: 'true',
  });

beforeAll(async () => {
  [fixture, nats, receiver] = await Promise.all([openFixture(), testNats(), startReceiver()]);
  const config = { ...configFor(), PORT: 0 };
  replicas.push(...(await Promise.all([startWebhooks(config), startWebhooks(config)])));
  sender = await connectBus({ url: nats.url, service: 'invoices', logger: createLogger('test', 'silent') });
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await sender?.close();
  await receiver?.close();
  await nats?.stop();
  await fixture?.close();
});

let copies = 0;
/** Publishes like a relay, but with a new id for each copy, so that NATS does not remove duplicates. */
const publish = (events: readonly MerchantEvent[]) =>
  sender.publish(
    events.map((event) => ({ kind: event.kind, dedupe: `${copies++}`, body: JSON.stringify(event) })),
  );

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const logOf = (account: AccountId) =>
  fixture.db.rows<{ id: string; sequence: string }>(
    'select id, sequence from events where account_id = $1 order by sequence',
    [account],
  );

test('two replicas number and deliver 500 shuffled and duplicated events without a gap or a duplicate', async () => {
  const accounts = Array.from({ length: 5 }, anAccount);
  const endpoints = await Promise.all(
    accounts.map((account, i) => anEndpoint(fixture.ports, account, `${receiver.url}/${i}`, [...eventTypes])),
  );
  const kinds = eventTypes.filter((kind): kind is MerchantEvent['kind'] => kind !== 'webhook.test');
  const events = Array.from({ length: 500 }, (_, i) =>
    anEvent({
      account: accounts[i % 5] as AccountId,
      kind: kinds[i % kinds.length] as MerchantEvent['kind'],
      resource: `inv_${i % 50}`,
      version: 1 + Math.floor(i / 50),
    }),
  );
  const copiesOfAll = shuffled([...events, ...events, ...events.slice(0, 100)]);
  for (let i = 0; i < copiesOfAll.length; i += 90) {
    const stored = await publish(copiesOfAll.slice(i, i + 90));
    expect(stored.every(Boolean)).toBe(true);
  }
  await eventually(() =>
    expect(new Set(receiver.received.map((one) => one.headers['webhook-id'])).size).toBe(500),
  );
  // Late copies of known events.
  await publish(events.slice(0, 50));
  await publish([anEvent({ account: accounts[0] as AccountId, resource: 'last', kind: 'invoice.expired' })]);
  await eventually(() => expect(receiver.received.some((one) => one.body.includes('"last"'))).toBe(true));

  for (const [i, account] of accounts.entries()) {
    const log = await logOf(account);
    expect(log.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: i === 0 ? 101 : 100 }, (_, n) => String(n + 1)),
    );
    expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
    const arrived = receiver.received.filter((one) => one.path === `/${i}`);
    const webhook = new Webhook(endpoints[i]?.secret ?? '');
    const told = arrived.map((one) => webhook.verify(one.body, one.headers as Record<string, string>));
    const sequences = told.map((body) => (body as { sequence: number }).sequence);
    expect(sequences.toSorted((a, b) => a - b)).toEqual(log.map((_, n) => n + 1));
  }
  expect(await fixture.db.rows('select * from dead_letters')).toEqual([]);
  await eventually(async () =>
    expect(await fixture.db.rows(`select state, attempts, count(*) from deliveries group by 1, 2`)).toEqual([
      { state: 'delivered', attempts: 1, count: '501' },
    ]),
  );
});

test('a first delivery leaves within milliseconds of its event', async () => {
  // The polling of another replica would hide that this one was not woken.
  await replicas.pop()?.stop();
  const account = anAccount();
  await anEndpoint(fixture.ports, account, `${receiver.url}/quick`);
  const took: number[] = [];
  for (let i = 0; i < 20; i++) {
    const event = anEvent({ account, resource: `inv_${i}` });
    const arrived = new Promise<void>((resolve) =>
      receiver.answer((response, { headers }) => {
        response.writeHead(200).end();
        if (headers['webhook-id'] === event.id) resolve();
      }),
    );
    const start = performance.now();
    await publish([event]);
    await arrived;
    took.push(performance.now() - start);
    // A recorded attempt wakes the workers too: it ends before the next event.
    await eventually(async () =>
      expect(await fixture.db.rows(`select 1 from deliveries where state <> 'delivered'`)).toEqual([]),
    );
    await sleep(30);
  }
  const median = took.toSorted((a, b) => a - b)[10] ?? 0;
  // A worker that is not woken polls four times a second.
  expect(median).toBeLessThan(patient(120));
});

test('an event that cannot be processed becomes a dead letter and delays no other', async () => {
  const account = anAccount();
  const bad = anEvent({ account });
  const body = JSON.stringify({ ...bad, payload: { ...bad.payload, version: 'x' } });
  await sender.publish([{ kind: 'invoice.created', dedupe: bad.id, body }]);
  await publish([anEvent({ account, resource: 'inv_after' })]);
  await eventually(async () => expect(await logOf(account)).toHaveLength(1));
  await eventually(async () =>
    expect(await fixture.db.rows('select kind from dead_letters')).toHaveLength(1),
  );
});
