import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Statement } from '@quittance/shared/db';
import { eventually } from '@quittance/testkit/eventually';
import { Webhook } from 'standardwebhooks';
import { createEndpointKeyPairs } from '../src/endpoint-key-pairs.ts';
import { createSecretEncryption } from '../src/endpoint-secrets.ts';
import { type ClaimedDelivery, claimDeliveries } from '../src/operations/claim-deliveries.ts';
import { changeEndpoint } from '../src/operations/endpoints.ts';
import { pruneEndedSecrets } from '../src/operations/prune.ts';
import { renewSecrets } from '../src/operations/renew-secrets.ts';
import { rotateSecret } from '../src/operations/rotate-secret.ts';
import {
  type Answered,
  anEvent,
  HOUR,
  invalid,
  openFixture,
  ROOM,
  SECRETS_KEY,
  withinTransactions,
} from './fixture.ts';

const keyPairs = createEndpointKeyPairs([randomBytes(32), randomBytes(32)]);
const fixture = await openFixture({ keyPairs });
const { db, clock, ports, port, receiver, receive, deliver, deliverAll, deliveriesOf } = fixture;
const { receiveMany, aShop, arrivedAt } = fixture;

/** Which of these secrets verify the newest request to a path. */
function verifiedBy(path: string, secrets: readonly string[]): boolean[] {
  const { headers = {}, body = '' } = arrivedAt(path).at(-1) ?? {};
  // eslint-disable-next-line no-restricted-syntax -- seconds
  const time = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signatures = `${headers['webhook-signature']}`.split(' ');
  return secrets.map((known) =>
    signatures.includes(new Webhook(known).sign(`${headers['webhook-id']}`, time, body)),
  );
}

async function aRotatingShop(path: string) {
  const shop = await aShop(path);
  return {
    ...shop,
    rotate: (body?: unknown): Promise<Answered> => shop.post('/rotate', body),
    /** Which of these secrets verify the next delivery. */
    async goodOf(secrets: readonly string[]): Promise<boolean[]> {
      await receive(anEvent({ account: shop.account }));
      await deliverAll();
      return verifiedBy(path, secrets);
    },
  };
}

const storedSecrets = async (key: string): Promise<number> =>
  (await db.rows('select 1 from endpoint_secrets where endpoint_key = $1', [key])).length;

test('webhooks have a v1a signature for each key of their endpoint, whose public keys everybody can read', async () => {
  const { id, account } = await aShop('/v1a');
  await receive(anEvent({ account }));
  await deliverAll();
  expect(arrivedAt('/v1a')[0]?.headers['webhook-signature']).toMatch(/^v1,\S+ v1a,\S+ v1a,\S+$/);
  const read = (named: string) => fetch(`http://127.0.0.1:${port}/.well-known/webhooks-public-keys/${named}`);
  const public_keys = keyPairs.of(id).map(({ publicKey }) => publicKey);
  expect(await (await read(id)).json()).toEqual({ public_keys });
  expect((await read('whe_short')).status).toBe(404);
});

test('a new secret is shown once, and the former one is valid for a day', async () => {
  const shop = await aRotatingShop('/rotated');
  const shown = await shop.shown();
  const { status, body } = await shop.rotate();
  const { secret } = body.data;
  const until = clock.hence(24 * HOUR);
  expect(status).toBe(200);
  expect(body.data).toEqual({ ...shown, secret, former_secrets_end_at: until });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(shop.secret);
  expect(await shop.shown()).toEqual(shown);

  expect(await shop.goodOf([shop.secret, secret])).toEqual([true, true]);
  const [one] = arrivedAt('/rotated');
  expect(String(one?.headers['webhook-signature']).match(/v1,/g)).toHaveLength(2);
  clock.advance(24 * HOUR - 1);
  expect(await shop.goodOf([shop.secret, secret])).toEqual([true, true]);
  clock.advance(1);
  expect(await shop.goodOf([shop.secret, secret])).toEqual([false, true]);
});

test('a rotation does not extend a secret that ends earlier', async () => {
  const shop = await aRotatingShop('/earlier');
  const second = (await shop.rotate({ overlap_hours: 1 })).body.data.secret;
  const third = (await shop.rotate({ overlap_hours: 24 })).body.data.secret;
  clock.advance(HOUR);
  expect(await shop.goodOf([shop.secret, second, third])).toEqual([false, true, true]);
});

test('at most five secrets are valid, the refusal says when or how the next is possible, and an overlap of 0 ends all former ones', async () => {
  const shop = await aRotatingShop('/five');
  const secrets = [shop.secret];
  for (let i = 0; i < 4; i++) {
    secrets.push((await shop.rotate()).body.data.secret);
    clock.advance(HOUR);
  }
  expect(await shop.goodOf(secrets)).toEqual([true, true, true, true, true]);
  const firstEnds = clock.hence(20 * HOUR);
  const refused = await shop.rotate();
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(firstEnds);
  expect(refused.body.message).toContain('overlap_hours');
  expect(await shop.goodOf(secrets)).toEqual([true, true, true, true, true]);

  clock.advance(20 * HOUR);
  const sixth = (await shop.rotate()).body.data.secret;
  expect(await shop.goodOf([...secrets, sixth])).toEqual([false, true, true, true, true, true]);
  const leaked = await shop.rotate({ overlap_hours: '0' });
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
  clock.advance(HOUR - 1);
  await pruneEndedSecrets(ports);
  expect(await storedSecrets(shop.key)).toBe(3);
  clock.advance(1);
  expect(await pruneEndedSecrets(ports)).toBeGreaterThanOrEqual(2);
  expect(await storedSecrets(shop.key)).toBe(1);
  expect(await pruneEndedSecrets(ports)).toBe(0);
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
  const gatedDb = withinTransactions(
    db,
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
  const claiming = await db.transaction(async (trx) => {
    await trx.rows(`select ${gate.replace('_shared', '')}`);
    const begun = claimDeliveries({ ...ports, db: gatedDb }, ROOM);
    await eventually(async () => expect(await db.rows(waiting)).not.toEqual([]));
    await change();
    return { begun };
  });
  return await claiming.begun;
}

test('a delivery uses a change that was committed while its endpoint’s queue was being locked', async () => {
  const { account, key, id } = await aShop('/before');
  await receive(anEvent({ account }));
  const queue = () =>
    db.one<{ generation: string }>('select generation from endpoint_queues where endpoint_key = $1', [key]);
  const before = await queue();
  const claimed = await claimWhile(async () => {
    await changeEndpoint(ports, account, id, { url: `${receiver.url}/now` });
    await rotateSecret(ports, account, id, 24);
  });
  const own = claimed.find(({ endpointKey }) => endpointKey === key);
  expect(own?.endpoint.url).toBe(`${receiver.url}/now`);
  expect(own?.endpoint.generation).toBe((await queue()).generation);
  expect(own?.endpoint.generation).not.toBe(before.generation);
  expect(own?.endpoint.keys).toHaveLength(2);
});

test('an endpoint that fails while its queue is being locked is claimed within its new concurrency limit', async () => {
  const { account, key } = await aShop('/failing');
  await receiveMany(account, 3);
  const fail = (failures: number) =>
    db.rows(
      'update endpoint_queues set consecutive_failures = $2, has_succeeded = true where endpoint_key = $1',
      [key, failures],
    );
  await fail(1);
  const claimed = await claimWhile(() => fail(4));
  expect(claimed.filter(({ endpointKey }) => endpointKey === key)).toHaveLength(1);
});

test('a secret that cannot be decrypted makes the attempt fail, and a new secret repairs it', async () => {
  const { account, id, key } = await aShop('/lost-key');
  await receive(anEvent({ account }));
  // The operator has lost the key and set another one.
  const other = {
    encryption: createSecretEncryption('another key of tests, longer than 32 characters', randomBytes),
  };

  const [failed] = await deliver(other);
  expect(failed?.result).toEqual({ kind: 'failed', failure: 'not_signed' });
  expect(arrivedAt('/lost-key')).toEqual([]);
  expect(await deliveriesOf(key)).toMatchObject([{ state: 'waiting', attempts: 1 }]);

  const rotated = await rotateSecret({ ...ports, ...other }, account, id, 24);
  if (!rotated.ok) throw new Error(rotated.refusal.kind);
  await receive(anEvent({ account }));
  await deliver(other);
  expect(verifiedBy('/lost-key', [rotated.value.secret])).toEqual([true]);
});

test('the key of secrets is changed: all secrets are encrypted with the new one, one that no key opens is left and logged', async () => {
  const [shop, lost] = [await aRotatingShop('/renewed'), await aShop('/lost')];
  const { secret } = (await shop.rotate()).body.data;
  const foreign = createSecretEncryption('x'.repeat(32), randomBytes).encrypt(secret, lost.id);
  await db.rows('delete from endpoint_secrets where endpoint_key = $1', [lost.key]);
  await db.rows('insert into endpoint_secrets values ($1, $2, now())', [lost.key, foreign]);
  const NEW = 'n'.repeat(32);
  const both = createSecretEncryption(NEW, randomBytes, SECRETS_KEY);
  const errors: object[] = [];
  const logger = { ...ports.logger, error: (details: object) => errors.push(details), info: () => undefined };
  await renewSecrets({ db: ports.db, encryption: both, logger: logger as never });
  expect(errors).toContainEqual({ endpoint: lost.id, reason: expect.any(String) });

  const alone = createSecretEncryption(NEW, randomBytes);
  const encryptedOf = async (key: string) =>
    (
      await db.rows<{ encrypted_secret: Buffer }>(
        'select encrypted_secret from endpoint_secrets where endpoint_key = $1 order by created_at',
        [key],
      )
    ).map(({ encrypted_secret: encrypted }) => encrypted);
  expect((await encryptedOf(shop.key)).map((encrypted) => alone.decrypt(encrypted, shop.id))).toEqual([
    shop.secret,
    secret,
  ]);
  expect(await encryptedOf(lost.key)).toEqual([foreign]);
  // Back to the key of the fixture, by the same way.
  const back = createSecretEncryption(SECRETS_KEY, randomBytes, NEW);
  await renewSecrets({ db: ports.db, encryption: back, logger: logger as never });
  expect(await shop.goodOf([shop.secret, secret])).toEqual([true, true]);
});
