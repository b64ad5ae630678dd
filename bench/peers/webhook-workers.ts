import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@quittance/engines/postgres';
import { startRedis } from '@quittance/engines/redis';
import { sleep } from '@quittance/shared/clock';
import type { Benchmark, Sample, Sides } from '../benchmark.ts';
import { oursOf, postsOf } from '../targets/webhook-deliveries.ts';
import { type Fixture, openFixture } from '../targets/webhook-fixture.ts';
import { runPeer, startPeer } from './installed.ts';

const EVENTS = 5_000;
const ENDPOINTS = 50;
const WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 20;
const shared = {
  what: 'The same backlog as `webhooks`, of 5,000, delivered by our workers: each attempt on record, a failing endpoint apart from the others.',
  target: { atLeast: 1 },
  unit: 'deliveries/s',
  rounds: 3,
  warmUp: false,
};

export const webhooksAndBullmq: Benchmark = {
  name: 'webhooks-bullmq',
  ...shared,
  yardstick:
    'a worker of BullMQ (64 jobs at once) that signs and posts the same bodies; its queue is in the memory of Redis and keeps no record of attempts',
  async setUp() {
    const redis = await startRedis({ port: 0 });
    const port = new URL(redis.url).port;
    return await sidesOf('bullmq-webhooks', { REDIS_PORT: port }, redis.pid, () => redis.stop());
  },
};

export const webhooksAndPgBoss: Benchmark = {
  name: 'webhooks-pg-boss',
  ...shared,
  yardstick:
    'a worker of pg-boss (two of them, batches of 200, no pause while batches are full) that signs and posts the same bodies; its queue is in Postgres',
  async setUp() {
    const dataDir = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
    const postgres = await startPostgres({ dataDir, port: 0 });
    return await sidesOf('pg-boss-webhooks', { DATABASE_URL: postgres.url }, postgres.pid, postgres.destroy);
  },
};

async function sidesOf(
  program: string,
  settings: Record<string, string>,
  queue: number | undefined,
  end: () => Promise<void>,
): Promise<Sides> {
  const worker = await startPeer(program, settings);
  const fixture = await openFixture(ENDPOINTS);
  await oursOf(fixture, EVENTS);
  const posts = JSON.stringify(await postsOf(fixture, EVENTS));
  /** Fills the queue while the worker stands still, and times it from its continuation to the last POST. */
  async function theirs(): Promise<Sample> {
    worker.pause();
    await runPeer('fill-queue', settings, posts);
    await fixture.seen();
    const begun = performance.now();
    worker.resume();
    await untilSeen(fixture, begun + WITHIN_MS);
    return { figure: (1_000 * EVENTS) / (performance.now() - begun), operations: EVENTS };
  }
  await theirs();
  return {
    ours: () => oursOf(fixture, EVENTS),
    theirs,
    async close() {
      await worker.stop();
      await fixture.close();
      await end();
    },
    processes: { webhooks: process.pid, postgres: fixture.postgresPid, peer: worker.pid, queue },
  };
}

async function untilSeen(fixture: Fixture, deadline: number): Promise<void> {
  for (let posts = 0; posts < EVENTS; ) {
    if (performance.now() > deadline) throw new Error(`the peer has posted ${posts} of ${EVENTS}`);
    posts += (await fixture.seen()).posts;
    if (posts < EVENTS) await sleep(LOOK_EVERY_MS);
  }
}
