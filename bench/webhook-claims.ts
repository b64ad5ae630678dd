import { performance } from 'node:perf_hooks';
import { claimDeliveries } from '@quittance/webhooks/operations/claim-deliveries';
import { median } from './drive.ts';
import { openFixture, queueDeliveries } from './webhook-deliveries.ts';

const WARM_UP = 3;
const CAPACITY = 400;

export type ClaimsOutcome = { claims: number; claimed: number; medianMs: number; worstMs: number };

/**
 * How long a claim takes while many deliveries are due, half of them retries, to healthy endpoints. Nothing is sent, so that
 * each endpoint's slots fill up.
 */
export async function claimBacklog(deliveries: number, endpoints: number): Promise<ClaimsOutcome> {
  const fixture = await openFixture(endpoints);
  const { ports } = fixture;
  try {
    await queueDeliveries(fixture, deliveries);
    await ports.db.rows('update deliveries set attempts = 1 where sequence % 2 = 0');
    await ports.db.rows('update endpoint_queues set has_succeeded = true, retry_due_at = new_due_at');
    await ports.db.rows('analyze');
    const took: number[] = [];
    let claimed = 0;
    for (let count = 1; count > 0; claimed += count) {
      const begun = performance.now();
      count = (await claimDeliveries(ports, { pool: 'slow', capacity: CAPACITY })).length;
      took.push(performance.now() - begun);
    }
    const timed = took.slice(WARM_UP);
    return { claims: timed.length, claimed, medianMs: median(timed), worstMs: Math.max(...timed) };
  } finally {
    await fixture.close();
  }
}
