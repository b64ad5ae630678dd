import { expect, test } from '@jest/globals';
import { freePort } from '@quittance/engines/free-port';
import { connectBus } from '@quittance/shared/bus';
import { loadConfig } from '@quittance/shared/config';
import type { AccountId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { gatewayKeys } from '@quittance/testkit/api';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { runServiceMain } from '@quittance/testkit/service-main';
import { Webhook } from 'standardwebhooks';
import { configSchema } from '../src/config.ts';
import { eventTypes } from '../src/domain/event-types.ts';
import type { MerchantEvent } from '../src/operations/events.ts';
import { startWebhooks } from '../src/service.ts';
import { anAccount, anEvent, openFixture, SECRETS_KEY } from './fixture.ts';

const { database, db, receiver, anEndpoint, aShop, deliveriesOf } = await openFixture();
const nats = await testNats();
database.finally(nats.stop);
const sender = await connectBus({
  ...{ url: nats.url, service: 'invoices', logger: createLogger('test', 'silent') },
});
database.finally(sender.close);

const env = (port: number) => ({
  PORT: String(port),
  DATABASE_URL: database.urlOf('webhooks'),
  NATS_URL: nats.url,
  GATEWAY_PUBLIC_KEY: gatewayKeys.publicKey,
  PUBLIC_URL: 'http://quittance.test',
  LOG_LEVEL: 'silent',
  WEBHOOK_SECRETS_KEY: SECRETS_KEY,
  ALLOW_INSECURE_ENDPOINTS: 'true',
});
const config = { ...loadConfig('webhooks', configSchema, env(1)), PORT: 0 };
const replicas = await Promise.all([startWebhooks(config), startWebhooks(config)]);
database.finally(() => Promise.all(replicas.map((replica) => replica.stop())));

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
  db.rows<{ id: string; sequence: string }>(
    'select id, sequence from events where account_id = $1 order by sequence',
    [account],
  );

test('two replicas number and deliver 500 shuffled and duplicated events without a gap or a duplicate', async () => {
  const accounts = Array.from({ length: 5 }, anAccount);
  const endpoints = await Promise.all(
    accounts.map((account, i) => anEndpoint(account, `/${i}`, [...eventTypes])),
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
  expect(await db.rows('select * from dead_letters')).toEqual([]);
  await eventually(async () =>
    expect(await db.rows(`select state, attempts, count(*) from deliveries group by 1, 2`)).toEqual([
      { state: 'delivered', attempts: 1, count: '501' },
    ]),
  );
});

test('a first delivery leaves when its event comes', async () => {
  // Neither its own polling nor another replica's hides that it was not woken.
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  replicas.push(await startWebhooks(config, { claimEveryMs: 600_000 }));
  const { account } = await aShop('/quick');
  for (let i = 0; i < 20; i++) {
    const event = anEvent({ account });
    await publish([event]);
    await eventually(() =>
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toContain(event.id),
    );
    // A recorded attempt wakes the workers too: it ends before the next event.
    await eventually(async () =>
      expect(await db.rows(`select 1 from deliveries where state <> 'delivered'`)).toEqual([]),
    );
  }
});

test('an event that cannot be processed becomes a dead letter and delays no other', async () => {
  const account = anAccount();
  const bad = anEvent({ account });
  const body = JSON.stringify({ ...bad, payload: { ...bad.payload, version: 'x' } });
  await sender.publish([{ kind: 'invoice.created', dedupe: bad.id, body }]);
  await publish([anEvent({ account, resource: 'inv_after' })]);
  await eventually(async () => expect(await logOf(account)).toHaveLength(1));
  await eventually(async () => expect(await db.rows('select kind from dead_letters')).toHaveLength(1));
});

test('on SIGTERM a process ends attempts in flight, exits with 0 and leaves nothing claimed', async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  const { account, key } = await aShop('/slow');
  const port = await freePort();
  const { ended, kill } = runServiceMain('webhooks', env(port));
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
  const arrived = new Promise<void>((resolve) =>
    receiver.answer((response) => {
      resolve();
      setTimeout(() => response.writeHead(200).end(), 500);
    }),
  );
  await publish([anEvent({ account })]);
  await arrived;
  kill('SIGTERM');
  expect((await ended).code).toBe(0);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('a wrong configuration prevents the start, and every problem is named', async () => {
  const wrong = {
    WEBHOOK_SECRETS_KEY: 'short',
    WEBHOOKS_SIGNING_KEY: 'whsk_short',
    PUBLIC_URL: '',
    ALLOW_INSECURE_ENDPOINTS: 'yes',
  };
  const { said, ended } = runServiceMain('webhooks', { ...env(await freePort()), ...wrong });
  expect((await ended).code).toBe(1);
  const all = said.out + said.err;
  expect(all).toContain('WEBHOOK_SECRETS_KEY: must have at least 32 characters');
  expect(all).toContain('WEBHOOKS_SIGNING_KEY: must be whsk_ and 32 or 64 bytes in base64');
  expect(all).toContain('PUBLIC_URL: is required');
  expect(all).toContain('ALLOW_INSECURE_ENDPOINTS');
  expect(all).not.toContain('short');
});
