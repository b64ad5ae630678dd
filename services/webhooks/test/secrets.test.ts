import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Statement } from '@quittance/shared/db';
import { eventually } from '@quittance/testkit/eventually';
import { Webhook } from 'standardwebhooks';
import { createSecretEncryption } from '../src/endpoint-secrets.ts';
import { type ClaimedDelivery, claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { changeEndpoint } from '../src/operations/endpoints.ts';
import { pruneEndedSecrets } from '../src/operations/prune.ts';
import { rotateSecret } from '../src/operations/rotate-secret.ts';
import type { Ports } from '../src/ports.ts';
import { type Answered, invalid } from './caller.ts';
import {
  anEvent,
  deliver,
  deliverAll,
  deliveriesOf,
  ROOM,
  receiveEvents,
  withinTransactions,
} from './fixture.ts';
import { openReceiverFixture } from './receiver-fixture.ts';

const HOUR = 3_600_000;

const opened = await openReceiverFixture();
const { fixture, receiver, aShop } = opened;
const caller = await opened.caller();

/** An endpoint with its own path, and helpers that check its deliveries. */
async function aRotatingShop(path: string) {
  const { account, id, key, secret } = await opened.aShop(path);
  return {
    key,
    secret,
    rotate: (body?: unknown): Promise<Answered> =>
      caller.call('POST', `/api/webhooks/${id}/rotate`, account, body),
    read: async () => (await caller.call('GET', `/api/webhooks/${id}`, account)).body,
    /** Which of these secrets verify the next delivery. */
    async goodOf(secrets: readonly string[]): Promise<boolean[]> {
      await receiveEvents(fixture.ports, anEvent({ account }));
      await deliverAll(fixture.ports);
      const one = receiver.received.findLast((received) => received.path === path);
      const {
        'webhook-id': id = '',
        'webhook-timestamp': at,
        'webhook-signature': given = '',
      } = (one?.headers ?? {}) as Record<string, string>;
      // eslint-disable-next-line no-restricted-syntax -- seconds
      const time = new Date(Number(at) * 1_000);
      return secrets.map((known) =>
        given.split(' ').includes(new Webhook(known).sign(id, time, one?.body ?? '')),
      );
    },
  };
}

const storedSecrets = async (key: string): Promise<number> =>
  (await fixture.db.rows('select 1 from endpoint_secrets where endpoint_key = $1', [key])).length;

test('a new secret is shown once, and the former one is valid for a day', async () => {
  const shop = await aRotatingShop('/rotated');
  const shown = await shop.read();
  const { status, body } = await shop.rotate();
  const { secret } = body.data;
  const until = new Date(fixture.clock.now().getTime() + 24 * HOUR).toISOString();
  expect(status).toBe(200);
  expect(body.data).toEqual({ ...shown, secret, former_secrets_end_at: until });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(shop.secret);
  expect(await shop.read()).toEqual(shown);

  expect(await shop.goodOf([shop.secret, secret])).toEqual([true, true]);
  const [one] = receiver.received.filter((received) => received.path === '/rotated');
  expect(String(one?.headers['webhook-signature']).split(' ')).toHaveLength(2);
  fixture.clock.advance(24 * HOUR - 1);
  expect(await shop.goodOf([shop.secret, secret])).toEqual([true, true]);
  fixture.clock.advance(1);
  expect(await shop.goodOf([shop.secret, secret])).toEqual([false, true]);
});

test('with an overlap of 0 all former secrets end at once', async () => {
  const shop = await aRotatingShop('/leaked');
  const second = (await shop.rotate({ overlap_hours: 5 })).body.data.secret;
  const third = (await shop.rotate({ overlap_hours: '0' })).body.data.secret;
  expect(await shop.goodOf([shop.secret, second, third])).toEqual([false, false, true]);
});

test('a rotation does not extend a secret that ends earlier', async () => {
  const shop = await aRotatingShop('/earlier');
  const second = (await shop.rotate({ overlap_hours: 1 })).body.data.secret;
  const third = (await shop.rotate({ overlap_hours: 24 })).body.data.secret;
  fixture.clock.advance(HOUR);
  expect(await shop.goodOf([shop.secret, second, third])).toEqual([false, true, true]);
});

test('at most five secrets are valid, and the refusal says when or how the next is possible', async () => {
  const shop = await aRotatingShop('/five');
  const secrets = [shop.secret];
  for (let i = 0; i < 4; i++) {
    secrets.push((await shop.rotate()).body.data.secret);
    fixture.clock.advance(HOUR);
  }
  expect(await shop.goodOf(secrets)).toEqual([true, true, true, true, true]);
  const firstEnds = new Date(fixture.clock.now().getTime() + 20 * HOUR).toISOString();
  const refused = await shop.rotate();
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(firstEnds);
  expect(refused.body.message).toContain('overlap_hours');
  expect(await shop.goodOf(secrets)).toEqual([true, true, true, true, true]);

  fixture.clock.advance(20 * HOUR);
  const sixth = (await shop.rotate()).body.data.secret;
  expect(await shop.goodOf([...secrets, sixth])).toEqual([false, true, true, true, true, true]);
  const leaked = await shop.rotate({ overlap_hours: 0 });
  expect(await shop.goodOf([...secrets, sixth, leaked.body.data.secret])).toEqual([
    ...[false, false, false, false, false, false],
    true,
  ]);
});

test('after concurrent rotations at most five secrets are valid, among them the newest', async () => {
  const shop = await aRotatingShop('/at-once');
  const answers = await Promise.all(Array.from({ length: 12 }, () => shop.rotate()));
  const made = answers.flatMap(({ status, body }) => (status === 200 ? [body.data.secret] : []));
  expect(made).toHaveLength(4);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(8);
  expect(await shop.goodOf([shop.secret, ...made])).toEqual([true, true, true, true, true]);
});

test('only ended secrets are removed from the database', async () => {
  const shop = await aRotatingShop('/forgotten');
  await shop.rotate({ overlap_hours: 2 });
  const newest = (await shop.rotate({ overlap_hours: 1 })).body.data.secret;
  expect(await storedSecrets(shop.key)).toBe(3);
  fixture.clock.advance(HOUR - 1);
  await pruneEndedSecrets(fixture.ports);
  expect(await storedSecrets(shop.key)).toBe(3);
  fixture.clock.advance(1);
  expect(await pruneEndedSecrets(fixture.ports)).toBeGreaterThanOrEqual(2);
  expect(await storedSecrets(shop.key)).toBe(1);
  expect(await pruneEndedSecrets(fixture.ports)).toBe(0);
  expect(await shop.goodOf([newest])).toEqual([true]);
});

test.each([
  [{ overlap_hours: -1 }, 'The overlap hours must be at least 0.'],
  [{ overlap_hours: 25 }, 'The overlap hours must not be greater than 24.'],
  [{ overlap_hours: 1.5 }, 'The overlap hours must be an integer.'],
  [{ overlap_hours: 'soon' }, 'The overlap hours must be an integer.'],
  [{ overlap_hours: true }, 'The overlap hours must be an integer.'],
])('%j is refused, and no secret is rotated', async (body, message) => {
  const shop = await aRotatingShop('/refused');
  expect(await shop.rotate(body)).toEqual(invalid({ overlap_hours: [message] }));
  expect(await storedSecrets(shop.key)).toBe(1);
});

/**
 * Claims while a change commits between the claim's snapshot and its lock: the row that it locks is newer than the one that
 * it has read.
 */
async function claimWhile(change: () => Promise<unknown>): Promise<ClaimedDelivery[]> {
  const gate = 'pg_advisory_xact_lock_shared(4711)';
  const db = withinTransactions(
    fixture.db,
    (trx) =>
      <T extends object>(sql: Statement | string, values: readonly unknown[] = []) => {
        const isLock = typeof sql === 'object' && sql.name === 'queues_lock_due';
        const gated = (lock: Statement): Statement => ({
          ...lock,
          name: '',
          text: lock.text.replaceAll('due_at <= $1 order', `due_at <= $1 and ${gate}::text = '' order`),
        });
        return trx.rows<T>(isLock ? gated(sql) : sql, values);
      },
  );
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
  const claiming = await fixture.db.transaction(async (trx) => {
    await trx.rows(`select ${gate.replace('_shared', '')}`);
    const begun = claimDeliveries({ ...fixture.ports, db }, ROOM);
    await eventually(async () => expect(await fixture.db.rows(waiting)).not.toEqual([]));
    await change();
    return { begun };
  });
  return await claiming.begun;
}

test('a delivery uses a change that was committed while its endpoint’s queue was being locked', async () => {
  const { account, key, id } = await aShop('/before');
  await receiveEvents(fixture.ports, anEvent({ account }));
  const queue = () =>
    fixture.db.one<{ generation: string }>('select generation from endpoint_queues where endpoint_key = $1', [
      key,
    ]);
  const before = await queue();
  const claimed = await claimWhile(async () => {
    await changeEndpoint(fixture.ports, account, id, { url: `${receiver.url}/now` });
    await rotateSecret(fixture.ports, account, id, 24);
  });
  const own = claimed.find(({ endpointKey }) => endpointKey === key);
  expect(own?.endpoint.url).toBe(`${receiver.url}/now`);
  expect(own?.endpoint.generation).toBe((await queue()).generation);
  expect(own?.endpoint.generation).not.toBe(before.generation);
  expect(own?.endpoint.keys).toHaveLength(2);
});

test('an endpoint that fails while its queue is being locked is claimed within its new concurrency limit', async () => {
  const { account, key } = await aShop('/failing');
  await receiveEvents(fixture.ports, ...Array.from({ length: 3 }, () => anEvent({ account })));
  const fail = (failures: number) =>
    fixture.db.rows(
      'update endpoint_queues set consecutive_failures = $2, has_succeeded = true where endpoint_key = $1',
      [key, failures],
    );
  await fail(1);
  const claimed = await claimWhile(() => fail(4));
  expect(claimed.filter(({ endpointKey }) => endpointKey === key)).toHaveLength(1);
});

/** A service whose operator has lost the key and set another one. */
const withAnotherKey = (): Ports => ({
  ...fixture.ports,
  encryption: createSecretEncryption('another key of tests, longer than 32 characters', randomBytes),
});

test('a secret that cannot be decrypted makes the attempt fail, and a new secret repairs it', async () => {
  const { account, id, key } = await aShop('/lost-key');
  await receiveEvents(fixture.ports, anEvent({ account }));
  const ports = withAnotherKey();
  const arrived = () => receiver.received.filter(({ path }) => path === '/lost-key');

  const [attempt] = await deliver(ports);
  expect(attempt?.result).toEqual({ kind: 'failed', failure: 'not_signed' });
  expect(arrived()).toEqual([]);
  expect(await deliveriesOf(fixture.db, key)).toEqual([
    expect.objectContaining({ state: 'waiting', attempts: 1 }),
  ]);

  const rotated = await rotateSecret(ports, account, id, 24);
  if (!rotated.ok) throw new Error(rotated.refusal.kind);
  await receiveEvents(fixture.ports, anEvent({ account }));
  await deliver(ports);
  const [one] = arrived();
  const {
    'webhook-id': webhook = '',
    'webhook-timestamp': at,
    'webhook-signature': signature,
  } = one?.headers ?? {};
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const time = new Date(Number(at) * 1_000);
  expect(signature).toBe(new Webhook(rotated.value.secret).sign(String(webhook), time, one?.body ?? ''));
});
