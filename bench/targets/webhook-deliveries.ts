import { performance } from 'node:perf_hooks';
import { sleep } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import { envelopeOf, type LoggedEvent } from '@quittance/webhooks/domain/envelope';
import { signatureHeaders, signingKey } from '@quittance/webhooks/endpoint-secrets';
import type { Ports } from '@quittance/webhooks/ports';
import { createWebhookSender } from '@quittance/webhooks/webhook-sender';
import { startWorkers } from '@quittance/webhooks/workers';
import { Agent } from 'undici';
import type { Benchmark, Sample } from '../benchmark.ts';
import { type Fixture, openFixture, queueDeliveries } from './webhook-fixture.ts';

/** More of them make the yardstick slower on a machine whose cores it shares with the receiver. */
const BARE_LOOPS = 64;

export type PostToMake = { id: string; url: string; secret: string; body: string };

export const webhookDeliveries: Benchmark = deliveriesOf({ events: 10_000, endpoints: 50, rounds: 3 });

export function deliveriesOf({
  events,
  endpoints,
  rounds,
}: Record<'events' | 'endpoints' | 'rounds', number>): Benchmark {
  return {
    name: 'webhooks',
    what: `A backlog of ${events.toLocaleString('en')} webhooks to ${endpoints} endpoints: claimed, signed, posted and recorded by the workers as they run in production. None is missing, none is sent twice.`,
    yardstick:
      'a bare loop of undici that posts the same signed bodies to the same receiver and remembers nothing',
    target: { atLeast: 0.5 },
    unit: 'deliveries/s',
    rounds,
    warmUp: false,
    async setUp() {
      const fixture = await openFixture(endpoints);
      // The loop posts what was delivered before.
      await oursOf(fixture, events);
      await bareOf(fixture, events);
      return {
        ours: () => oursOf(fixture, events),
        theirs: () => bareOf(fixture, events),
        close: fixture.close,
        processes: { webhooks: process.pid, postgres: fixture.postgresPid },
      };
    },
  };
}

/** Deliveries per second, from the first claim to the last record. */
export async function oursOf(fixture: Fixture, count: number): Promise<Sample> {
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
  return { figure: (1_000 * count) / took, operations: count };
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

/** Of the newest events: what has to be posted for each, and where to. */
export async function postsOf({ ports, endpoints }: Fixture, count: number): Promise<PostToMake[]> {
  const logged = await ports.db.rows<LoggedEvent & { accountId: string }>(
    `select account_id as "accountId", id, kind, created_at as "createdAt", sequence, version, data::text as data
     from events order by id desc limit $1`,
    [count],
  );
  const endpointOf = new Map(endpoints.map((endpoint) => [endpoint.account as string, endpoint]));
  return logged.map((event) => {
    const { url = '', secret = '' } = endpointOf.get(event.accountId) ?? {};
    return { id: event.id, url, secret, body: envelopeOf(event) };
  });
}

/** POSTs per second of a loop that has everything ready: addresses, bodies, signatures. */
async function bareOf(fixture: Fixture, count: number): Promise<Sample> {
  const orders = (await postsOf(fixture, count)).map(({ id, url, secret, body }) => {
    const { origin, pathname } = new URL(url);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'bare',
      ...signatureHeaders([signingKey(secret)], id, new Date(), body),
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
  return { figure: (1_000 * count) / took, operations: count };
}
