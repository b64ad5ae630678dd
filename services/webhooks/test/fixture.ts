import { randomBytes } from 'node:crypto';
import { afterEach, expect } from '@jest/globals';
import type { Db, Statement, Trx } from '@quittance/shared/db';
import type { EventKind, EventOf } from '@quittance/shared/events';
import { listen } from '@quittance/shared/http-server';
import { type AccountId, type EndpointId, newAccountId, newEndpointId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { noTracer } from '@quittance/shared/traces';
import { api, gatewayPublicKeys } from '@quittance/testkit/api';
import { anEventOf } from '@quittance/testkit/builders';
import { startReceiver } from '@quittance/testkit/receiver';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { defaultEventTypes } from '../src/domain/event-types.ts';
import { createSecretEncryption, newSecret } from '../src/endpoint-secrets.ts';
import { createEventStreams } from '../src/event-streams.ts';
import { createHttp } from '../src/http/app.ts';
import { type Attempt, attemptDelivery, recordAttempts } from '../src/operations/attempt-delivery.ts';
import {
  type ClaimedDelivery,
  type ClaimOptions,
  claimDeliveries,
  takeBackDeliveries,
} from '../src/operations/claim-deliveries.ts';
import { registerEndpoint } from '../src/operations/endpoints.ts';
import { listEvents, type MerchantEvent, recordEvents } from '../src/operations/events.ts';
import type { Ports } from '../src/ports.ts';
import { insertEndpoint } from '../src/store/endpoints.ts';
import { createWebhookSender } from '../src/webhook-sender.ts';

export const SECRETS_KEY = 'a key of tests, longer than 32 characters';
export const SECOND = 1_000;
export const HOUR = 3_600 * SECOND;
export const DAY = 24 * HOUR;

// biome-ignore lint/suspicious/noExplicitAny: the tests assert on whatever is answered
export type Answered = { status: number; body: any };
type DeliveryRow = { sequence: string; state: string; attempts: number; due_at: Date };

/** Claims all due deliveries of a test. */
export const ROOM: ClaimOptions = { pool: 'slow', capacity: 1_024 };
/** The queue of an endpoint that never failed. */
export const freshQueue = { consecutive_failures: 0, failing_since: null, has_succeeded: false };

export const anAccount = (): AccountId => newAccountId(new Date());
export const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY);

/** An event as NATS delivers it. */
export function anEvent({
  account = anAccount(),
  kind = 'invoice.created',
  resource = 'inv_1',
  version = 1,
  data = { id: resource, status: 'pending' },
  at = new Date(),
}: {
  account?: AccountId;
  kind?: MerchantEvent['kind'];
  resource?: string;
  version?: number;
  data?: Record<string, unknown>;
  at?: Date;
} = {}): MerchantEvent {
  const payload = { account_id: account, resource_id: resource, version, data };
  return anEventOf(kind, payload, { at }) as EventOf<EventKind> as MerchantEvent;
}

type Before = (name: string, values: readonly unknown[], text: string) => unknown;
/** The same database, which calls `before` ahead of each query outside of a transaction. */
export const withHook = (db: Db, before: Before): Db => ({
  ...db,
  async rows<T extends object>(sql: Statement | string, values: readonly unknown[] = []) {
    const { name, text } = typeof sql === 'string' ? { name: sql, text: sql } : sql;
    await before(name, values, text);
    return await db.rows<T>(sql, values);
  },
});

/** The same database, with `rows` in place of the queries in its transactions. */
export const withinTransactions = (db: Db, rows: (trx: Trx) => Trx['rows']): Db => ({
  ...db,
  transaction: (work) => db.transaction((trx) => work({ ...trx, rows: rows(trx) })),
});

/**
 * For one suite: the ports of webhooks with their own database and a clock that the test advances, without NATS, their
 * routes, and a merchant's server, which answers 200 at the start of each test. Closed after the last test.
 */
export async function openFixture(given: Partial<Ports> = {}) {
  const [database, receiver] = await Promise.all([suiteDatabase(), startReceiver()]);
  database.finally(receiver.close);
  const logger = createLogger('webhooks', 'silent');
  const db = database.openAs('webhooks', { pool: 8 });
  let time = Date.now();
  const clock = {
    now: () => new Date(time),
    advance(ms: number) {
      time += ms;
    },
    /** This many milliseconds from now, as the API writes it. */
    hence: (ms: number) => new Date(time + ms).toISOString(),
  };
  const ports: Ports = {
    db,
    clock,
    random: randomBytes,
    logger,
    tracer: noTracer,
    encryption: createSecretEncryption(SECRETS_KEY, randomBytes),
    sender: createWebhookSender({ publicOnly: false, timeoutMs: 2_000 }),
    streams: createEventStreams({ db, logger }),
    settings: {
      gatewayKeys: gatewayPublicKeys,
      publicUrl: 'http://quittance.test',
      allowInsecureEndpoints: true,
    },
    ...given,
  };
  database.finally(() => Promise.all([ports.streams.close(), ports.sender.close()]));
  afterEach(() => answerWith(200));

  const answerWith = (status: number, body = '') =>
    receiver.answer((response) => response.writeHead(status).end(body));

  /** Serves the routes until the end of the suite. `call` calls them like the gateway, a text body unchanged. */
  async function serve(settings: Partial<Ports['settings']> = {}, own: Partial<Ports> = {}) {
    const served = { ...ports, ...own, settings: { ...ports.settings, ...settings } };
    const http = createHttp(served, { logger: served.logger, clock, waitsFor: async () => [] });
    const { port, close } = await listen(http, '127.0.0.1', 0);
    database.finally(() => close(0));
    async function call(
      method: string,
      path: string,
      account: AccountId,
      given?: unknown,
    ): Promise<Answered> {
      const { status, body } = await api(port, method, path, { account, body: given, now: clock.now() });
      return { status, body };
    }
    return { port, call };
  }
  const { port, call } = await serve();

  /** Records events in one transaction, as the consumer does. */
  const receive = (...events: MerchantEvent[]): Promise<void> =>
    db.transaction((trx) => recordEvents(trx, events, ports));

  /** A page of an account's events: the first 500 of all, unless something else is wanted. */
  async function pageOf(
    account: AccountId,
    wanted: Partial<Parameters<typeof listEvents>[2]> = {},
    own: Partial<Ports> = {},
  ) {
    const all = { after: 0, eventTypes: null, from: null, to: null, limit: 500 };
    const listed = await listEvents({ ...ports, ...own }, account, { ...all, ...wanted });
    if (!listed.ok) throw new Error(`the log ends at ${listed.refusal.last}`);
    return listed.value;
  }

  /** An endpoint of this account at a URL, or at a path of the merchant's server. */
  async function anEndpoint(account: AccountId, at: string, eventTypes: string[] = [...defaultEventTypes]) {
    const url = at.startsWith('/') ? `${receiver.url}${at}` : at;
    const made = await registerEndpoint(ports, { account, url, eventTypes, description: null });
    if (!made.ok) throw new Error(made.refusal);
    const { key, id } = made.value.endpoint;
    const path = `/api/webhooks/${id}`;
    return {
      ...{ account, key, id, secret: made.value.secret, path },
      /** A POST to a path below the endpoint's. */
      post: (below: string, body?: unknown) => call('POST', `${path}${below}`, account, body),
      patch: (body: unknown) => call('PATCH', path, account, body),
      /** The endpoint in the JSON of the API. */
      shown: async () => (await call('GET', path, account)).body,
    };
  }

  const claim = (options: Partial<ClaimOptions> = {}) => claimDeliveries(ports, { ...ROOM, ...options });

  /** Sends claimed deliveries without recording the attempts. */
  const attempt = (claimed: readonly ClaimedDelivery[], own: Partial<Ports> = {}): Promise<Attempt[]> =>
    Promise.all(claimed.map((delivery) => attemptDelivery({ ...ports, ...own }, delivery)));

  async function send(claimed: readonly ClaimedDelivery[], own: Partial<Ports> = {}): Promise<Attempt[]> {
    const attempts = await attempt(claimed, own);
    if (attempts.length > 0) await recordAttempts(ports, attempts);
    return attempts;
  }

  /** One step of the workers: claims all due deliveries, sends them and records the attempts. */
  const deliver = async (own: Partial<Ports> = {}) =>
    await send(await claimDeliveries({ ...ports, ...own }, ROOM), own);

  /** Repeats until nothing is due. */
  async function deliverAll(own: Partial<Ports> = {}): Promise<Attempt[]> {
    const all: Attempt[] = [];
    for (let round = await deliver(own); round.length > 0; round = await deliver(own)) all.push(...round);
    return all;
  }

  /** The stored deliveries of an endpoint. */
  const deliveriesOf = (endpointKey: string) =>
    db.rows<DeliveryRow>(
      'select sequence, state, attempts, due_at from deliveries where endpoint_key = $1 order by sequence',
      [endpointKey],
    );

  return {
    ...{ database, db, clock, ports, receiver, answerWith, port, call, serve, receive, pageOf, anEndpoint },
    ...{ claim, attempt, send, deliver, deliverAll, deliveriesOf },
    takeBack: () => takeBackDeliveries(ports),
    /** Records this many events of one account, as the consumer does with a batch. */
    receiveMany: (account: AccountId, count: number, kind: MerchantEvent['kind'] = 'invoice.created') =>
      receive(...Array.from({ length: count }, (_, i) => anEvent({ account, kind, resource: `inv_${i}` }))),
    /** An endpoint of an account of its own. */
    aShop: (at: string, eventTypes?: string[]) => anEndpoint(anAccount(), at, eventTypes),
    /** The requests to a path of the receiver. Each test has its own path. */
    arrivedAt: (path: string) => receiver.received.filter((one) => one.path === path),
    /** The sequence numbers of the events that arrived at a path, in their order of arrival. */
    sequencesAt: (path: string): number[] =>
      receiver.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body).sequence),
    /** The states of an endpoint's deliveries, in the order of their sequence numbers. */
    statesOf: async (key: string) => (await deliveriesOf(key)).map(({ state }) => state),
    /** What suites about an endpoint's health read of its queue. */
    queuesOf: (key: string) =>
      db.rows(
        'select consecutive_failures, failing_since, has_succeeded from endpoint_queues where endpoint_key = $1',
        [key],
      ),
    /** The next attempt at its waiting deliveries is their tenth, and due. */
    async lastAttemptIsDue(key: string): Promise<void> {
      await db.rows("update deliveries set attempts = 9 where endpoint_key = $1 and state = 'waiting'", [
        key,
      ]);
      await db.rows('update endpoint_queues set retry_due_at = new_due_at where endpoint_key = $1', [key]);
    },
    /** Since when it is subscribed to its event types; reconciliation checks deliveries from there. */
    subscribedSince: async (key: string) => {
      const sql = 'select subscribed_since as since from endpoints where key = $1';
      return (await db.one<{ since: Date | null }>(sql, [key])).since;
    },
    /** Inserts endpoints without the checks of registration: more than an account may have, or with refused URLs. */
    insertEndpoints: (account: AccountId, urls: readonly string[]): Promise<void> =>
      db.transaction(async (trx) => {
        for (const url of urls) {
          const id: EndpointId = newEndpointId(new Date(), randomBytes);
          await insertEndpoint(trx, {
            ...{ id, accountId: account, url, description: null, createdAt: new Date() },
            eventTypes: ['invoice.created'],
            encryptedSecret: ports.encryption.encrypt(newSecret(randomBytes), id),
          });
        }
      }),
  };
}

export const noWebhook: Answered = {
  status: 404,
  body: expect.objectContaining({ message: 'No query results for model [Webhook].' }),
};
export const conflict = (message: string | RegExp): Answered => ({
  status: 409,
  body: expect.objectContaining({
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  }),
});
export const forbidden: Answered = { status: 403, body: { message: 'This action is unauthorized.' } };
export const invalid = (errors: Record<string, string[]>): Answered => ({
  status: 422,
  body: expect.objectContaining({ message: 'The given data was invalid.', errors }),
});
