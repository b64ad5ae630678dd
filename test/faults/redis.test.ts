import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { type Fault, type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { Redis } from 'ioredis';
import { pidsOf, putBetween } from './between.ts';
import { expectHarmless, expectTrueWords, type Findings, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { type LogLines, logLines } from './log-lines.ts';
import { lookingOn, slowMs, unseemly } from './onlookers.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { type Case, hung, notConnected, onTheWay } from './wire.ts';

/**
 * Whatever becomes of Redis, no request fails for it and none waits long: limits are counted in memory meanwhile.
 * Nothing but counters is in it.
 */
const FAULT_MS = sized(700, 30_000);
/** How fast it usually is. */
const USUAL_MS = 300;
const SLOWER_BY_AT_MOST_MS = 250;
/** Every day other suites take the cores for a second now and then: what waits for Redis does so each time. */
const TURNS_MAX = sized(4, 1);
const COUNTED_AGAIN_WITHIN_MS = 10_000;

let quittance: Quittance;
let proxy: FaultProxy;
let load: Load;
let logs: LogLines;
let redis: Redis;
let pids: (number | undefined)[];

beforeAll(async () => {
  quittance = await startQuittance({ chains: [], redis: true, fixedFees: true });
  const { engines } = quittance.stack;
  proxy = await startFaultProxy(engines.redis?.url ?? '');
  await putBetween(quittance, [{ service: 'gateway', setting: 'REDIS_URL', through: proxy.through }]);
  redis = new Redis(engines.redis?.url ?? '', { retryStrategy: () => 100 });
  redis.on('error', () => undefined);
  load = await startLoad(quittance, { clients: 1, pauseMs: 200 });
  logs = logLines(quittance);
  pids = pidsOf(quittance);
});
afterAll(async () => {
  redis?.disconnect();
  await load?.abandon();
  await quittance?.stop();
  await proxy?.close();
});

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
    const last = logs.last('gateway', BACK_OR_AWAY);
    if (last !== undefined && AWAY.test(last)) throw new Error('the gateway has not come back to Redis');
  }, COUNTED_AGAIN_WITHIN_MS);
  await redis.flushall();
  await counted();
}

const way = (fault: Fault) => onTheWay(() => proxy, fault);
const server = () => {
  const { redis: engine } = quittance.stack.engines;
  if (engine === undefined) throw new Error('this stack has no Redis');
  return engine;
};

type Met = Case & {
  /** What the gateway says of it; nothing of what it need not notice. */
  says?: RegExp;
};
const AWAY = /Redis is away, limits are counted in memory/;
const BACK_OR_AWAY = /Redis is (?:back|away), limits are counted/;

const kinds: Met[][] = [
  [
    { fault: 'Redis killed', ...notConnected(server, 'kill'), says: AWAY },
    { fault: 'connections to Redis refused', ...way({ kind: 'refuse' }), says: AWAY },
  ],
  [
    { fault: 'Redis hung (SIGSTOP)', ...hung(server), says: AWAY },
    { fault: 'Redis in a black hole', ...way({ kind: 'black hole' }), says: AWAY },
  ],
  [{ fault: 'Redis flushed', ...flushed() }],
  [
    { fault: 'Redis 150 ms late', ...way({ kind: 'latency', ms: 150 }) },
    { fault: 'answers of Redis in drops', ...way({ kind: 'drip', bytes: 1, everyMs: 20 }), says: AWAY },
  ],
  [
    {
      fault: 'connections to Redis cut in an answer',
      ...way({ kind: 'reset', afterBytes: 200 }),
      says: AWAY,
    },
    {
      fault: 'connections to Redis half-closed',
      ...way({ kind: 'half-close', afterBytes: 200 }),
      says: AWAY,
    },
  ],
];

test.each(faultsOfTheDay(kinds))('$fault: no request fails or waits for it', ({ fault, ...met }) =>
  expectHarmless('redis', fault, async (found) => {
    let slow = await meet(found, met);
    for (let turn = 1; slow !== undefined && turn < TURNS_MAX; turn++) slow = await meet(found, met);
    if (slow !== undefined) found.violations.push(slow);
  }),
);

/** The fault once, and what is wrong when it is over. @returns what was slow, if anything was */
async function meet(
  found: Findings,
  { begin, end, fired, strikes, says }: Omit<Met, 'fault'>,
): Promise<string | undefined> {
  await counted();
  logs.mark();
  const { idempotency, body } = await orderWithKey();
  const usual = await lookingOn(load.merchant, () => sleep(USUAL_MS));
  const during = await lookingOn(load.merchant, async () => {
    await begin();
    await sleep(FAULT_MS);
    found.fired += await fired();
  });
  // Keys and what was answered to them are kept elsewhere.
  const again = await load.merchant.post('/api/invoices', body, { 'idempotency-key': idempotency.key });
  await end();
  const ended = performance.now();
  if (says !== undefined) await logs.said('gateway', says);
  await countsAgain();
  recovered(found, performance.now() - ended);

  found.violations.push(...logs.unusable(strikes?.()), ...unseemly(during, [200]));
  if (again.status !== 201 || again.body.data.id !== idempotency.id)
    found.violations.push('a key was forgotten');
  return slowMs(during) > slowMs(usual) + SLOWER_BY_AT_MOST_MS
    ? `requests took up to ${slowMs(during)} ms, before up to ${slowMs(usual)} ms`
    : undefined;
}

/** All that is in it goes. */
function flushed(): Pick<Case, 'begin' | 'end' | 'fired'> {
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

/** An invoice made with a key, before the fault. */
async function orderWithKey(): Promise<{ idempotency: { key: string; id: string }; body: object }> {
  const body = { asset: 'ETH', amount: 5 };
  const key = `redis-${performance.now()}`;
  const made = await load.merchant.post('/api/invoices', body, { 'idempotency-key': key });
  expect(made.status).toBe(201);
  return { idempotency: { key, id: made.body.data.id }, body };
}

test('and nothing was lost meanwhile', async () => {
  const { accepted, refused } = await expectTrueWords('redis', load);
  expect(accepted).toBeGreaterThan(0);
  expect(refused).toBe(0);
  expect(pidsOf(quittance)).toEqual(pids);
});
