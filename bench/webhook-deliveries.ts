import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { freePort } from '@quittance/engines/free-port';
import { startPostgres } from '@quittance/engines/postgres';
import { type Engine, startEngine } from '@quittance/engines/process';
import { sleep, systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { newAccountId, newInvoiceId } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { migrateAll } from '@quittance/shared/migrate-all';
import { anEventOf } from '@quittance/testkit/builders';
import { envelopeOf, type LoggedEvent } from '@quittance/webhooks/domain/envelope';
import { defaultEventTypes } from '@quittance/webhooks/domain/event-types';
import { createSecretEncryption, signatureHeaders, signingKey } from '@quittance/webhooks/endpoint-secrets';
import { registerEndpoint } from '@quittance/webhooks/operations/endpoints';
import { type MerchantEvent, recordEvents } from '@quittance/webhooks/operations/events';
import type { Ports } from '@quittance/webhooks/ports';
import { createWebhookSender } from '@quittance/webhooks/webhook-sender';
import { startWorkers } from '@quittance/webhooks/workers';
import { Agent } from 'undici';
import { median } from './drive.ts';

const PASSWORD = 'bench';
const WARM_UP_PART = 4;
const EVENTS_AT_ONCE = 100;
/** More of them make the yardstick slower on a machine whose cores it shares with the receiver. */
const BARE_LOOPS = 64;

export type DeliveriesOutcome = {
  events: number;
  endpoints: number;
  /** Ours against the bare loop: the median of the rounds' own ratios, and the best of them. */
  ratio: number;
  best: number;
  oursPerSecond: number;
  barePerSecond: number;
};

type Seen = { posts: number; ids: number };
export type Fixture = {
  ports: Omit<Ports, 'sender'>;
  endpoints: { account: MerchantEvent['payload']['account_id']; secret: string; url: string }[];
  seen(): Promise<Seen>;
  close(): Promise<void>;
};

/**
 * Events that wait in the database, each for one endpoint: claimed, signed, posted and recorded by the workers as they
 * run in production, against a loop that posts the same signed bodies to the same receiver and remembers nothing.
 */
export async function deliverBacklogs(
  events: number,
  endpoints: number,
  rounds: number,
): Promise<DeliveriesOutcome> {
  const fixture = await openFixture(endpoints);
  try {
    await oursOf(fixture, Math.ceil(events / WARM_UP_PART));
    await bareOf(fixture, Math.ceil(events / WARM_UP_PART));
    const results: { ours: number; bare: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const isOursFirst = round % 2 === 0;
      const first = await (isOursFirst ? oursOf : bareOf)(fixture, events);
      const second = await (isOursFirst ? bareOf : oursOf)(fixture, events);
      results.push(isOursFirst ? { ours: first, bare: second } : { ours: second, bare: first });
    }
    const ratios = results.map(({ ours, bare }) => ours / bare);
    return {
      events,
      endpoints,
      ratio: median(ratios),
      best: Math.max(...ratios),
      oursPerSecond: median(results.map(({ ours }) => ours)),
      barePerSecond: median(results.map(({ bare }) => bare)),
    };
  } finally {
    await fixture.close();
  }
}

/** Deliveries per second, from the first claim to the last record. */
async function oursOf(fixture: Fixture, count: number): Promise<number> {
  const { db } = fixture.ports;
  await queueDeliveries(fixture, count);
  await fixture.seen();
  const begun = performance.now();
  // Who stops them closes it.
  const workers = startWorkers({
    ...fixture.ports,
    sender: createWebhookSender({ publicOnly: false }),
  } as unknown as Ports);
  try {
    while (await isAnyOpen(db)) await sleep(25);
  } finally {
    await workers.stop();
  }
  const took = performance.now() - begun;
  const { posts, ids } = await fixture.seen();
  if (posts !== count || ids !== count) {
    throw new Error(`${count} deliveries were ${posts} POSTs of ${ids} events`);
  }
  const wrong = await whatIsWrong(db);
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return (1_000 * count) / took;
}

/** Every event has its number, none is left out, and each was delivered at its first attempt. */
async function whatIsWrong(db: Db): Promise<string[]> {
  const wrong = await db.rows<{ what: string }>(
    `select 'the sequence of ' || account_id || ' has a gap' as what from events
     group by account_id having count(*) <> max(sequence) or min(sequence) <> 1
     union all
     select count(*) || ' deliveries are ' || state || ' after ' || attempts || ' attempts' from deliveries
     where state <> 'delivered' or attempts <> 1 group by state, attempts
     union all
     select 'event ' || e.sequence || ' of ' || e.account_id || ' was delivered to nobody' from events e
     join endpoints p on p.account_id = e.account_id
     where not exists (select 1 from deliveries d where d.endpoint_key = p.key and d.sequence = e.sequence)`,
  );
  return wrong.map(({ what }) => what);
}

/** Asked again and again while deliveries are measured, so it counts nothing. */
const isAnyOpen = async (db: Db): Promise<boolean> => {
  const { found } = await db.one<{ found: boolean }>(
    `select exists (select from deliveries where state = 'waiting')
       or exists (select from deliveries where state = 'sending') as found`,
  );
  return found;
};

/** POSTs per second of a loop that has everything ready: addresses, bodies, signatures. */
async function bareOf(fixture: Fixture, count: number): Promise<number> {
  const { db } = fixture.ports;
  const logged = await db.rows<LoggedEvent & { accountId: string }>(
    `select account_id as "accountId", id, kind, created_at as "createdAt", sequence, version, data::text as data
     from events order by id desc limit $1`,
    [count],
  );
  const endpointOf = new Map(fixture.endpoints.map((endpoint) => [endpoint.account as string, endpoint]));
  const orders = logged.map((event) => {
    const { url = '', secret = '' } = endpointOf.get(event.accountId) ?? {};
    const { origin, pathname } = new URL(url);
    const body = envelopeOf(event);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'bare',
      ...signatureHeaders([signingKey(secret)], event.id, new Date(), body),
    };
    return { origin, path: pathname, headers, body, method: 'POST' as const };
  });
  const agent = new Agent({ pipelining: 1 });
  await fixture.seen();
  let next = 0;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: BARE_LOOPS }, async () => {
      for (let order = orders[next++]; order !== undefined; order = orders[next++]) {
        const answer = await agent.request(order);
        await answer.body.dump();
      }
    }),
  );
  const took = performance.now() - begun;
  await agent.close();
  const { posts, ids } = await fixture.seen();
  if (posts !== count || ids !== count) throw new Error(`the bare loop sent ${posts} of ${count}`);
  return (1_000 * count) / took;
}

export async function queueDeliveries({ ports, endpoints }: Fixture, count: number): Promise<void> {
  for (let from = 0; from < count; from += EVENTS_AT_ONCE) {
    const events = Array.from({ length: Math.min(EVENTS_AT_ONCE, count - from) }, (_, i) =>
      paid(endpoints[(from + i) % endpoints.length]?.account ?? ''),
    );
    await ports.db.transaction((trx) => recordEvents(trx, events, ports));
  }
  await ports.db.rows('analyze');
}

/** An event of the size that a real one has. */
function paid(account: string): MerchantEvent {
  const now = new Date();
  const invoice = {
    ...{ id: newInvoiceId(now), external_id: 'order-2026-000123', status: 'paid', asset: 'BTC' },
    ...{ amount: '0.00041667', amount_usd: '25.00', usd_rate: '60000.00', received: '0.00041667' },
    ...{ address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', min_confirmations: 2, confirmations: 2 },
    ...{ created_at: now.toISOString(), expires_at: now.toISOString(), paid_at: now.toISOString() },
    transactions: [
      { txid: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b', amount: '0.00041667' },
    ],
  };
  const payload = { account_id: account, resource_id: invoice.id, version: 1, data: invoice };
  return anEventOf('invoice.paid', payload, { at: now }) as unknown as MerchantEvent;
}

export async function openFixture(endpoints: number): Promise<Fixture> {
  const logger = createLogger('bench', 'error');
  const postgres = await startPostgres({
    dataDir: mkdtempSync(join(tmpdir(), 'quittance-bench-')),
    port: 0,
  });
  await migrateAll({ adminUrl: postgres.url, passwordOf: () => PASSWORD });
  const receiver = await startReceiver();
  const db = openDb({
    url: serviceUrl(postgres.url, 'webhooks', PASSWORD),
    schema: 'webhooks',
    pool: 10,
    logger,
  });
  const ports = {
    ...{ db, clock: systemClock, random: randomBytes, logger },
    encryption: createSecretEncryption('a key of the benchmark, of 32 or more', randomBytes),
  } as unknown as Fixture['ports'];

  const made = await Promise.all(
    Array.from({ length: endpoints }, async (_, i) => {
      const account = newAccountId(new Date());
      const url = `http://127.0.${1 + Math.floor(i / 250)}.${1 + (i % 250)}:${receiver.port}/hooks`;
      const registered = await registerEndpoint(ports, {
        account,
        url,
        eventTypes: [...defaultEventTypes],
        description: null,
      });
      if (!registered.ok) throw new Error(registered.refusal);
      return { account, url, secret: registered.value.secret };
    }),
  );
  return {
    ports,
    endpoints: made,
    async seen() {
      return (await (await fetch(`http://127.0.0.1:${receiver.port}/seen`)).json()) as Seen;
    },
    async close() {
      await db.close();
      await receiver.engine.stop();
      await postgres.destroy();
    },
  };
}

async function startReceiver(): Promise<{ port: number; engine: Engine }> {
  const port = await freePort();
  const file = fileURLToPath(new URL('./stubs/receiver.ts', import.meta.url));
  const engine = await startEngine({
    name: 'stub receiver',
    command: () => ({ file: process.execPath, args: [file, String(port)] }),
    ask: async () => void (await fetch(`http://127.0.0.1:${port}/seen`)),
    stopSignal: 'SIGTERM',
  });
  return { port, engine };
}
