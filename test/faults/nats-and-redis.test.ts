import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { STREAM } from '@quittance/shared/bus-connection';
import { ADMIN } from '@quittance/shared/bus-permissions';
import { putBetween } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import { type Fault, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { Redis } from 'ioredis';
import { connect } from 'nats';
import { expectHarmless, expectTrueWords, type Findings } from './expect-harmless.ts';
import { type Looks, lookingOn, slowMs, unseemly } from './onlookers.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { goThrough, type Met, onTheBus, underLoad } from './under-load.ts';
import { untilArrived } from './until-arrived.ts';
import { hung, notConnected, onTheWay, striking } from './wire.ts';

const HEALS_WITHIN_MS = 60_000;
jest.setTimeout(patient(sized(1_500, 60_000) + 2 * HEALS_WITHIN_MS + 60_000));

const on = underLoad({
  options: { chains: [], redis: true, fixedFees: true, busAdmin: true },
  async between(quittance) {
    const { nats, redis } = quittance.stack.engines;
    const ways = {
      nats: await startFaultProxy(nats.url, 13),
      redis: await startFaultProxy(redis?.url ?? ''),
    };
    await putBetween(quittance, [
      ...onTheBus.map((service) => ({ service, setting: 'NATS_URL', through: ways.nats.through })),
      { service: 'gateway', setting: 'REDIS_URL', through: ways.redis.through },
    ]);
    return ways;
  },
  close: async (ways) => void (await Promise.all([ways.nats.close(), ways.redis.close()])),
});
const engine = (name: 'nats' | 'redis') => () => {
  const found = on.quittance.stack.engines[name];
  if (found === undefined) throw new Error(`this stack has no ${name}`);
  return found;
};
const way = (name: 'nats' | 'redis', fault: Fault) => onTheWay(() => on.between[name], fault);

/**
 * Without NATS payouts are answered 503, what can be read is read, and invoices are made. When it is back, all that
 * was published in that time arrives, and nothing has its effect twice.
 */
describe('NATS', () => {
  const FAULT_MS = sized(1_500, 60_000);
  const STORM_MS = sized(2_000, 30_000);
  /** A rate is good for a minute: so long invoices can be made without NATS. */
  const INVOICES_FOR_MS = 50_000;
  const nats = engine('nats');
  const storm = { ms: STORM_MS, met: onTheBus };
  let other: Merchant;
  beforeAll(async () => {
    other = await on.quittance.merchant();
  });

  /** `noPayouts`: a payout is answered 503 for sure, where nothing answers when that has been waited for. */
  const faults: (Met & { noPayouts?: true })[] = [
    { fault: 'NATS stopped', ...notConnected(nats, 'kill'), met: onTheBus, noPayouts: true },
    { fault: 'NATS not to be reached', ...way('nats', { kind: 'refuse' }), met: onTheBus, noPayouts: true },
    { fault: 'NATS hung (SIGSTOP)', ...hung(nats), noPayouts: true },
    { fault: 'NATS in a black hole', ...way('nats', { kind: 'black hole' }), noPayouts: true },
    { fault: 'NATS 60 ms late', ...way('nats', { kind: 'latency', ms: 60 }), ms: STORM_MS },
    {
      fault: 'words of NATS in drops',
      ...way('nats', { kind: 'drip', bytes: 256, everyMs: 2 }),
      ms: STORM_MS,
    },
    { fault: 'connections to NATS cut', ...striking(() => on.between.nats.cut()), ...storm },
    {
      fault: 'connections to NATS cut in the middle of a word',
      ...way('nats', { kind: 'reset', afterBytes: 3_000 }),
      ...storm,
    },
    {
      fault: 'connections to NATS half-closed',
      ...way('nats', { kind: 'half-close', afterBytes: 3_000 }),
      ...storm,
    },
    {
      fault: 'its stream full',
      ...full(),
      ms: STORM_MS,
      met: ['payouts'],
      says: /maximum messages exceeded.*events could not be published/,
    },
  ];

  test.each(faultsOfTheDay(faults))(
    '$fault: who reads is served, and all arrives afterwards',
    ({ noPayouts, ...met }) =>
      expectHarmless('nats', met.fault, async (found) => {
        const [asked, made] = [new Map<number, number>(), new Map<number, number>()];
        const seen = (all: Map<number, number>, status: number) =>
          all.set(status, (all.get(status) ?? 0) + 1);
        await goThrough(on, [found], met, {
          lastsMs: FAULT_MS,
          says: /the bus is gone, reconnecting/,
          async during(lasts) {
            const until = performance.now() + INVOICES_FOR_MS;
            // What was sent before NATS was lost may still be answered.
            await sleep(300);
            while (!lasts.aborted) {
              if (noPayouts === true) seen(asked, await payout());
              if (performance.now() < until) seen(made, await invoice());
              await sleep(100);
            }
          },
          healsWithinMs: HEALS_WITHIN_MS,
          healed: (ended) => untilArrived(on.quittance, ended, HEALS_WITHIN_MS),
        });
        found.violations.push(
          ...unseemly({ statuses: made }, [201]),
          ...unseemly({ statuses: asked }, [503]),
        );
        if (noPayouts === true && asked.size === 0)
          found.violations.push('nobody asked for a payout meanwhile');
      }),
  );

  /** Of somebody without money: with a ledger to be asked it would be refused with 400. */
  async function payout(): Promise<number> {
    const address = `0x${randomBytes(20).toString('hex')}`;
    const { status, headers } = await other.post('/api/payouts', { asset: 'ETH', amount: '0.01', address });
    expect(headers['retry-after'] === undefined).toBe(status !== 503);
    return status;
  }

  const invoice = async (): Promise<number> =>
    (await other.post('/api/invoices', { asset: 'ETH', amount: 5 })).status;

  /** The stream takes nothing more; what it refuses stays with its senders. */
  function full(): Pick<Met, 'begin' | 'end' | 'fired'> {
    const limit = async (most: (now: number) => number): Promise<void> => {
      const { host, username, password } = new URL(on.quittance.stack.busUrl(ADMIN));
      const admin = await connect({ servers: host, user: username, pass: password });
      try {
        const { streams } = await admin.jetstreamManager();
        const { state } = await streams.info(STREAM);
        await streams.update(STREAM, { max_msgs: most(state.messages) });
      } finally {
        await admin.close();
      }
    };
    const unsent = ['payouts', 'invoices', 'ledger'].map(
      (service) => `select sent_at from ${service}.outbox where sent_at is null`,
    );
    return {
      begin: () => limit((now) => now),
      end: () => limit(() => -1),
      // Nobody sends once and gives up: what was refused is still there.
      fired: async () => (await on.quittance.db.rows(unsent.join(' union all '))).length,
    };
  }
});

/**
 * Whatever becomes of Redis, no request fails for it and none waits long: limits are counted in memory meanwhile.
 * Nothing but counters is in it.
 */
describe('Redis', () => {
  const FAULT_MS = sized(700, 30_000);
  /** How fast it usually is. */
  const USUAL_MS = 300;
  const SLOWER_BY_AT_MOST_MS = 250;
  /** Every day other suites take the cores for a second now and then: what waits for Redis does so each time. */
  const TURNS_MAX = sized(4, 1);
  const COUNTED_AGAIN_WITHIN_MS = 10_000;
  const AWAY = /Redis is away, limits are counted in memory/;
  const BACK = /Redis is back, limits are counted there again/;
  const server = engine('redis');
  const met = ['gateway'] as const;
  let redis: Redis;
  /** How many payouts were asked for by then: one of these may still be refused for what happened to NATS. */
  let askedBefore = 0;
  /**
   * On a busy machine payouts may wait too long for the ledger, and the gateway for payouts. Neither is because of Redis, which
   * the gateway asks before it passes a request on.
   */
  const refusedElsewhere = (): number =>
    on.logs.count('payouts', /"method":"POST","path":"\/api\/payouts".*refused a request/) +
    on.logs.count('gateway', /"upstream":"payouts","status":503.*a service did not answer/);
  let refusedBefore = 0;
  beforeAll(() => {
    redis = new Redis(server().url, { retryStrategy: () => 100 });
    redis.on('error', () => undefined);
    const { accepted, refused, unknown } = on.load.counts();
    askedBefore = accepted + refused + unknown;
    refusedBefore = refusedElsewhere();
  });
  afterAll(() => redis?.disconnect());

  const faults: Met[] = [
    { fault: 'Redis killed', ...notConnected(server, 'kill'), met },
    { fault: 'connections to Redis refused', ...way('redis', { kind: 'refuse' }), met },
    { fault: 'Redis hung (SIGSTOP)', ...hung(server), met },
    { fault: 'Redis in a black hole', ...way('redis', { kind: 'black hole' }), met },
    { fault: 'Redis flushed', ...flushed() },
    { fault: 'Redis 150 ms late', ...way('redis', { kind: 'latency', ms: 150 }) },
    { fault: 'answers of Redis in drops', ...way('redis', { kind: 'drip', bytes: 1, everyMs: 20 }), met },
    {
      fault: 'connections to Redis cut in an answer',
      ...way('redis', { kind: 'reset', afterBytes: 200 }),
      met,
    },
    {
      fault: 'connections to Redis half-closed',
      ...way('redis', { kind: 'half-close', afterBytes: 200 }),
      met,
    },
  ];

  test.each(faultsOfTheDay(faults))('$fault: no request fails or waits for it', (one) =>
    expectHarmless('redis', one.fault, async (found) => {
      let slow = await meet(found, one);
      for (let turn = 1; slow !== undefined && turn < TURNS_MAX; turn++) slow = await meet(found, one);
      if (slow !== undefined) found.violations.push(slow);
    }),
  );

  /** The fault once. @returns what was slow, if anything was */
  async function meet(found: Findings, one: Met): Promise<string | undefined> {
    const { merchant } = on.load;
    await counted();
    // Keys and what was answered to them are kept elsewhere.
    const order = () =>
      merchant.post('/api/invoices', { asset: 'ETH', amount: 5 }, { 'idempotency-key': key });
    const key = `redis-${performance.now()}`;
    const before = await order();
    const usual = await lookingOn(merchant, () => sleep(USUAL_MS));
    const during: Looks = await goThrough(on, [found], one, {
      lastsMs: FAULT_MS,
      says: AWAY,
      over: BACK,
      async during() {
        const again = await order();
        if (again.status !== 201 || again.body.data.id !== before.body.data.id)
          found.violations.push('a key was forgotten');
      },
      healsWithinMs: HEALS_WITHIN_MS,
      healed: countsAgain,
    });
    return slowMs(during) > slowMs(usual) + SLOWER_BY_AT_MOST_MS
      ? `requests took up to ${slowMs(during)} ms, before up to ${slowMs(usual)} ms`
      : undefined;
  }

  const counted = () =>
    eventually(async () => {
      const keys = await redis.keys('limit:token:*');
      if (keys.length === 0) throw new Error('no token is counted in Redis');
    }, COUNTED_AGAIN_WITHIN_MS);

  /**
   * A new counter is there only if it was made just now; what the gateway had asked for before may still be on its way, so
   * that its own word counts as well.
   */
  async function countsAgain(): Promise<void> {
    await eventually(() => {
      const last = on.logs.last('gateway', /Redis is (?:back|away), limits are counted/);
      if (last !== undefined && AWAY.test(last)) throw new Error('the gateway has not come back to Redis');
    }, COUNTED_AGAIN_WITHIN_MS);
    await redis.flushall();
    await counted();
  }

  /** All that is in it goes. */
  function flushed(): Pick<Met, 'begin' | 'end' | 'fired'> {
    let keys = 0;
    return {
      async begin() {
        keys = await redis.dbsize();
        await redis.flushall();
      },
      end: () => undefined,
      fired: () => keys,
    };
  }

  test('no payout was refused for it', () =>
    eventually(
      () =>
        expect(on.load.counts(askedBefore).refused).toBeLessThanOrEqual(refusedElsewhere() - refusedBefore),
      COUNTED_AGAIN_WITHIN_MS,
    ));
});

test('in the end every word that was given is true', async () => {
  const { accepted, refused } = await expectTrueWords('nats', on.load);
  expect(accepted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});
