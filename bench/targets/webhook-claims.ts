import { performance } from 'node:perf_hooks';
import { claimDeliveries } from '@quittance/webhooks/operations/claim-deliveries';
import type { Benchmark, Sample } from '../benchmark.ts';
import { median, percentiles } from '../drive.ts';
import { openFixture, queueDeliveries } from './webhook-fixture.ts';

const FEW = 2_000;
const MANY = 50_000;
const ENDPOINTS = 500;
const WARM_UP = 3;
const CAPACITY = 400;
const CLAIMS_MAX = 40;

export const claims: Benchmark = {
  name: 'claims',
  what: 'A claim of deliveries while 50,000 to 500 healthy endpoints are due, half of them retries. Nothing is sent, so that the slots fill up.',
  yardstick: 'the same while 2,000 are due',
  target: { atMost: 3 },
  unit: 'ms',
  rounds: 1,
  warmUp: false,
  setUp: async () => ({
    ours: () => claimBacklog(MANY),
    theirs: () => claimBacklog(FEW),
    close: async () => undefined,
  }),
};

async function claimBacklog(deliveries: number): Promise<Sample> {
  const fixture = await openFixture(ENDPOINTS);
  const { ports } = fixture;
  try {
    await queueDeliveries(fixture, deliveries);
    await ports.db.rows('update deliveries set attempts = 1 where sequence % 2 = 0');
    await ports.db.rows('update endpoint_queues set has_succeeded = true, retry_due_at = new_due_at');
    await ports.db.rows('analyze');
    const took: number[] = [];
    for (let count = 1; count > 0 && took.length < CLAIMS_MAX; ) {
      const begun = performance.now();
      count = (await claimDeliveries(ports, { pool: 'slow', capacity: CAPACITY })).length;
      took.push(performance.now() - begun);
    }
    const timed = took.slice(WARM_UP);
    return { figure: median(timed), operations: timed.length, ...percentiles(timed) };
  } finally {
    await fixture.close();
  }
}
