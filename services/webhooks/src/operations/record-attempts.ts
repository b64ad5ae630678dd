import { isDeepStrictEqual } from 'node:util';
import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { healthAfter } from '../domain/circuit.ts';
import { askedUntil, type DeliveryUpdate, deliveryAfter, outcomeOf } from '../domain/outcome.ts';
import type { Ports } from '../ports.ts';
import { type AttemptRow, recordEnds } from '../store/deliveries.ts';
import { type EndpointQueue, lockQueues, updateQueueHealth, wakeQueues } from '../store/endpoint-queues.ts';
import { disableEndpoints } from '../store/endpoints.ts';
import type { Attempt } from './attempt-delivery.ts';

type Ended = { attempt: Attempt; update: DeliveryUpdate };

/** Records attempts, the next states of their deliveries, and the health of their endpoints. */
export async function recordAttempts(
  { db, clock, logger, attempted }: Pick<Ports, 'db' | 'clock' | 'logger' | 'attempted'>,
  attempts: readonly Attempt[],
): Promise<void> {
  const now = clock.now();
  const recorded = await db.transaction(async (trx) => {
    const keys = new Set(attempts.map(({ delivery }) => delivery.endpointKey));
    const queues = await lockQueues(trx, [...keys]);
    const byKey = new Map(queues.map((queue) => [queue.endpointKey, queue]));
    const ends = attempts.map((attempt) => ({ attempt, update: decide(attempt, byKey, now) }));
    const written = await recordEnds(trx, ends.map(recordOf));
    failpoint('webhooks.recording');
    const claims = new Set(written.map(claimOf));
    const mine = ends.filter(({ attempt }) => claims.has(claimOf(attempt.delivery)));
    if (mine.length < ends.length) {
      logger.warn(
        { attempts: ends.length - mine.length },
        'attempts ended after another process had claimed their deliveries',
      );
    }
    await updateQueues(trx, queues, mine, now, logger);
    return mine;
  });
  attempted?.(recorded.map(({ update }) => update));
  failpoint('webhooks.recorded');
}

const nameOf = (delivery: { endpointKey: string; sequence: string }): string =>
  `${delivery.endpointKey}/${delivery.sequence}`;

/** Another process may have claimed the same delivery since. */
const claimOf = (delivery: { endpointKey: string; sequence: string; claim: string }): string =>
  `${nameOf(delivery)}/${delivery.claim.replaceAll('-', '')}`;

/** Whether an attempt went to the endpoint as it is now: not when it has a new URL or was enabled again since. */
const isOf = ({ generation }: EndpointQueue, { delivery }: Attempt): boolean =>
  delivery.endpoint.generation === generation;

function decide(attempt: Attempt, queues: ReadonlyMap<string, EndpointQueue>, now: Date): DeliveryUpdate {
  const { delivery, result } = attempt;
  const queue = queues.get(delivery.endpointKey);
  const endpoint = queue === undefined ? 'gone' : isOf(queue, attempt) ? 'same' : 'renewed';
  const attempts = delivery.attempts - delivery.cycleStart;
  return deliveryAfter({ name: nameOf(delivery), attempts, endpoint }, result, now);
}

function recordOf({ attempt: { delivery, startedAt, ms, result }, update }: Ended): AttemptRow {
  return {
    endpointKey: delivery.endpointKey,
    sequence: delivery.sequence,
    claim: delivery.claim,
    state: update.state,
    dueAt: update.state === 'waiting' ? update.dueAt : null,
    startsNewCycle: update.state === 'waiting' && update.startsNewCycle === true,
    counted: result.kind !== 'stopped',
    startedAt,
    ms,
    status: result.kind === 'answered' ? result.status : null,
    failure: result.kind === 'failed' ? result.failure : null,
    answer: result.kind === 'answered' ? result.excerpt : null,
  };
}

/** Updates the health of the endpoints, wakes their queues, and disables endpoints that failed for too long. */
async function updateQueues(
  trx: Trx,
  queues: readonly EndpointQueue[],
  ends: readonly Ended[],
  now: Date,
  logger: Ports['logger'],
): Promise<void> {
  const byKey = Map.groupBy(ends, ({ attempt }) => attempt.delivery.endpointKey);
  const changed: EndpointQueue[] = [];
  const disabled: { key: string; reason: string }[] = [];
  for (const queue of queues) {
    const own = (byKey.get(queue.endpointKey) ?? []).filter(({ attempt }) => isOf(queue, attempt));
    const outcomes = own.map(({ attempt }) => outcomeOf(attempt.result));
    const failed = own.filter((_, i) => outcomes[i] === 'failed' || outcomes[i] === 'gone');
    const { health, disable } = healthAfter(
      queue,
      {
        outcomes,
        failedEvents: failed.map(({ attempt }) => attempt.delivery.createdAt),
        pauses: own.flatMap(({ attempt }) => askedUntil(attempt.result, now) ?? []),
      },
      now,
    );
    const { endpointKey, generation } = queue;
    if (!isDeepStrictEqual({ endpointKey, generation, ...health }, queue))
      changed.push({ endpointKey, generation, ...health });
    if (disable === undefined) continue;
    const [one] = own;
    logger.info(
      { endpoint: one?.attempt.delivery.endpoint.endpointId, why: disable },
      'disabled an endpoint',
    );
    disabled.push({ key: endpointKey, reason: disable });
  }
  if (changed.length > 0) await updateQueueHealth(trx, changed);
  await wakeQueues(trx, [...byKey.keys()], now);
  if (disabled.length > 0) await disableEndpoints(trx, disabled, now);
}
