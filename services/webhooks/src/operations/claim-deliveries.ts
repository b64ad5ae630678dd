import { failpoint } from '@quittance/shared/failpoint';
import { invariant } from '@quittance/shared/result';
import { concurrencyOf } from '../domain/circuit.ts';
import { type SigningKey, signingKey } from '../endpoint-secrets.ts';
import type { Ports } from '../ports.ts';
import {
  type ClaimedRow,
  claimFromQueues,
  extendClaims,
  lockDueQueues,
  lockHealthyQueues,
  overdueEndpoints,
  type StoredTarget,
  takeBackOverdue,
  targetsOf,
} from '../store/claims.ts';
import { lockQueues, wakeQueues } from '../store/endpoint-queues.ts';

/** Queues per claim. Attempts of other queues can be recorded while a claim holds their locks. */
const QUEUES_MAX = 24;
const CLAIM_MAX = 400;
/**
 * A process that has not renewed its claims for so long counts as dead. Replicas compare their own clocks: the clocks may
 * differ by up to five seconds, and a renewal still comes in time.
 */
export const LEASE_MS = 12_000;
const CLAIM_ID_BYTES = 16;

/**
 * Two bulkheads within a process. `fast` is for new deliveries to healthy endpoints, which accepted their last delivery and
 * answer quickly. `slow` is for all others. Endpoints that hang never use the capacity of those that answer.
 */
export type Pool = 'fast' | 'slow';

/** Everything that an attempt needs, as read by the claim. */
export type ClaimedDelivery = ClaimedRow & {
  claim: string;
  /** The pool whose capacity it uses. */
  pool: Pool;
  endpoint: WebhookTarget;
};

/** Shared by all deliveries of a claim to one endpoint. */
export type WebhookTarget = StoredTarget & {
  /** The keys of the valid secrets. */
  keys: readonly SigningKey[];
};

export type ClaimOptions = {
  pool: Pool;
  /** How many attempts may begin now. */
  capacity: number;
  /** Endpoints that do not answer now: the fast pool leaves them out. */
  slowEndpoints?: readonly string[];
};

/** Claims due deliveries within each endpoint's concurrency limit, and evenly among the endpoints. */
export async function claimDeliveries(
  { db, clock, random, encryption }: Pick<Ports, 'db' | 'clock' | 'random' | 'encryption'>,
  { pool, capacity, slowEndpoints = [] }: ClaimOptions,
): Promise<ClaimedDelivery[]> {
  const now = clock.now();
  const claim = Buffer.from(random(CLAIM_ID_BYTES)).toString('hex');
  const until = new Date(now.getTime() + LEASE_MS);
  const queuesMax = Math.min(capacity, QUEUES_MAX);
  const claimed = await db.transaction(async (trx) => {
    const queues =
      pool === 'fast'
        ? await lockHealthyQueues(trx, now, queuesMax, slowEndpoints)
        : await lockDueQueues(trx, now, queuesMax);
    if (queues.length === 0) return [];
    const limits = queues.map((queue) => ({
      endpointKey: queue.endpointKey,
      ...concurrencyOf(queue, { now, isRetryDue: queue.isRetryDue }),
    }));
    const most = Math.min(capacity, CLAIM_MAX);
    const rows = await claimFromQueues(trx, limits, {
      now,
      claim,
      until,
      most,
      withRetries: pool === 'slow',
    });
    if (rows.length === 0) return [];
    const stored = await targetsOf(trx, [...new Set(rows.map(({ endpointKey }) => endpointKey))], now);
    const targets = new Map(
      stored.map((one) => [one.endpointKey, { ...one, keys: keysOf(one, encryption) }]),
    );
    return rows.map((row) => {
      const endpoint = targets.get(row.endpointKey);
      invariant(endpoint !== undefined, 'only deliveries of a locked queue are claimed');
      return { ...row, claim, pool, endpoint };
    });
  });
  if (claimed.length > 0) failpoint('webhooks.claimed');
  return claimed;
}

/** Leaves out secrets that were encrypted with another key: another secret of the endpoint may be readable. */
const keysOf = (
  { endpointId, encryptedSecrets }: StoredTarget,
  { decrypt }: Ports['encryption'],
): SigningKey[] =>
  encryptedSecrets.flatMap((encrypted) => {
    try {
      return [signingKey(decrypt(encrypted, endpointId))];
    } catch {
      return [];
    }
  });

/** Extends the claims of deliveries whose attempts are still in flight. */
export async function renewClaims(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  await extendClaims(db, deliveries, new Date(clock.now().getTime() + LEASE_MS));
}

/**
 * Makes deliveries due again whose process died before it recorded them. Whether they were sent is unknown, so a receiver
 * may see the same id again.
 */
export async function takeBackDeliveries({
  db,
  clock,
  logger,
}: Pick<Ports, 'db' | 'clock' | 'logger'>): Promise<number> {
  const now = clock.now();
  const keys = await overdueEndpoints(db, now);
  if (keys.length === 0) return 0;
  const back = await db.transaction(async (trx) => {
    await lockQueues(trx, keys);
    const taken = await takeBackOverdue(trx, keys, now);
    await wakeQueues(trx, keys, now);
    return taken;
  });
  failpoint('webhooks.taken_back');
  logger.warn({ deliveries: back.length }, 'took back deliveries of a process that died');
  return back.length;
}
