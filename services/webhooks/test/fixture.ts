import { randomBytes } from 'node:crypto';
import { type Db, openDb, type Trx } from '@quittance/shared/db';
import type { EventKind, EventOf } from '@quittance/shared/events';
import { type Listening, listen } from '@quittance/shared/http-server';
import {
  type AccountId,
  type EndpointId,
  newAccountId,
  newEndpointId,
  newEventId,
} from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { Secret } from '@quittance/shared/secret';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { defaultEventTypes } from '../src/domain/event-types.ts';
import { createSecretEncryption, newSecret } from '../src/endpoint-secrets.ts';
import { createEventStreams } from '../src/event-streams.ts';
import { createHttp } from '../src/http/app.ts';
import { type Attempt, attemptDelivery, recordAttempts } from '../src/operations/attempt-delivery.ts';
import {
  type ClaimedDelivery,
  type ClaimOptions,
  claimDeliveries,
} from '../src/operations/claim-deliveries.ts';
import { registerEndpoint } from '../src/operations/endpoints.ts';
import { type MerchantEvent, recordEvents } from '../src/operations/events.ts';
import type { Ports } from '../src/ports.ts';
import { insertEndpoint } from '../src/store/endpoints.ts';
import { createWebhookSender } from '../src/webhook-sender.ts';

export const SECRETS_KEY = 'a key of tests, longer than 32 characters';
export const IDENTITY_SECRET = 'an identity secret of tests, 32 long';

/** A clock that only the test advances. */
export type SteppedClock = { now(): Date; advance(ms: number): void };

function steppedClock(start = new Date()): SteppedClock {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance(ms) {
      time += ms;
    },
  };
}

export type Fixture = {
  database: TestDatabase;
  /** A connection with the service's role and schema. */
  db: Db;
  clock: SteppedClock;
  ports: Ports;
  close(): Promise<void>;
};

/** The ports of webhooks with their own database and a clock that the test advances, without NATS. */
export async function openFixture(given: Partial<Ports> = {}): Promise<Fixture> {
  const database = await testDatabase();
  const logger = createLogger('webhooks', 'silent');
  const db = openDb({ url: database.urlOf('webhooks'), schema: 'webhooks', pool: 8, logger });
  const clock = steppedClock();
  const ports: Ports = {
    db,
    clock,
    random: randomBytes,
    logger,
    encryption: createSecretEncryption(SECRETS_KEY, randomBytes),
    sender: createWebhookSender({ publicOnly: false, timeoutMs: 2_000 }),
    streams: createEventStreams({ db, logger }),
    settings: {
      identitySecret: new Secret(IDENTITY_SECRET),
      publicUrl: 'http://quittance.test',
      allowInsecureEndpoints: true,
    },
    ...given,
  };
  return {
    database,
    db,
    clock,
    ports,
    async close() {
      await ports.streams.close();
      await ports.sender.close();
      await db.close();
      await database.drop();
    },
  };
}

/** Serves the routes with these ports. */
export const listenTo = (ports: Ports): Promise<Listening> =>
  listen(
    createHttp(ports, { logger: ports.logger, clock: ports.clock, waitsFor: async () => [] }),
    '127.0.0.1',
    0,
  );

export const anAccount = (): AccountId => newAccountId(new Date());

/** An event as NATS delivers it. */
export function anEvent({
  account = anAccount(),
  kind = 'invoice.created',
  resource = 'inv_1',
  version = 1,
  data = { id: resource, status: 'pending' },
}: {
  account?: AccountId;
  kind?: MerchantEvent['kind'];
  resource?: string;
  version?: number;
  data?: Record<string, unknown>;
} = {}): MerchantEvent {
  const now = new Date();
  return {
    id: newEventId(now),
    kind,
    created_at: now.toISOString(),
    request_id: null,
    payload: { account_id: account, resource_id: resource, version, data },
  } as EventOf<EventKind> as MerchantEvent;
}

/** Records events in one transaction, as the consumer does. */
export const receiveEvents = (ports: Ports, ...events: MerchantEvent[]): Promise<void> =>
  ports.db.transaction((trx) => recordEvents(trx, events, ports));

/** Records this many events of one account, as the consumer does with a batch. */
export const receiveMany = (ports: Ports, account: AccountId, count: number, name = 'inv'): Promise<void> =>
  receiveEvents(
    ports,
    ...Array.from({ length: count }, (_, i) => anEvent({ account, resource: `${name}_${i}` })),
  );

/** An endpoint of this account, and its secret. */
export async function anEndpoint(
  ports: Ports,
  account: AccountId,
  url: string,
  eventTypes: string[] = [...defaultEventTypes],
): Promise<{ key: string; id: EndpointId; secret: string }> {
  const made = await registerEndpoint(ports, { account, url, eventTypes, description: null });
  if (!made.ok) throw new Error(made.refusal);
  return { key: made.value.endpoint.key, id: made.value.endpoint.id, secret: made.value.secret };
}

/**
 * Inserts endpoints without the checks of registration: more than an account may have, or with URLs that it refuses.
 */
export const insertedEndpoints = (
  { db, encryption }: Ports,
  account: AccountId,
  urls: readonly string[],
): Promise<void> =>
  db.transaction(async (trx) => {
    for (const url of urls) {
      const id = newEndpointId(new Date(), randomBytes);
      await insertEndpoint(trx, {
        ...{ id, accountId: account, url, description: null, createdAt: new Date() },
        eventTypes: ['invoice.created'],
        encryptedSecret: encryption.encrypt(newSecret(randomBytes), id),
      });
    }
  });

/** Claims all due deliveries of a test. */
export const ROOM: ClaimOptions = { pool: 'slow', capacity: 1_024 };

/** One step of the workers: claims all due deliveries, sends them and records the attempts. */
export const deliver = async (ports: Ports): Promise<Attempt[]> =>
  await send(ports, await claimDeliveries(ports, ROOM));

/** Sends claimed deliveries and records the attempts. */
export async function send(ports: Ports, claimed: readonly ClaimedDelivery[]): Promise<Attempt[]> {
  const attempts = await Promise.all(claimed.map((delivery) => attemptDelivery(ports, delivery)));
  if (attempts.length > 0) await recordAttempts(ports, attempts);
  return attempts;
}

/** Repeats until nothing is due. */
export async function deliverAll(ports: Ports): Promise<Attempt[]> {
  const all: Attempt[] = [];
  for (let round = await deliver(ports); round.length > 0; round = await deliver(ports)) all.push(...round);
  return all;
}

export type DeliveryRow = { sequence: string; state: string; attempts: number; due_at: Date };

/** The same database, with `rows` in place of the queries in its transactions. */
export const withinTransactions = (db: Db, rows: (trx: Trx) => Trx['rows']): Db => ({
  ...db,
  transaction: (work) => db.transaction((trx) => work({ ...trx, rows: rows(trx) })),
});

/** The stored deliveries of an endpoint. */
export const deliveriesOf = (db: Db, endpointKey: string): Promise<DeliveryRow[]> =>
  db.rows<DeliveryRow>(
    'select sequence, state, attempts, due_at from deliveries where endpoint_key = $1 order by sequence',
    [endpointKey],
  );
