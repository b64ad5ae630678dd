import { crashPoint } from '@quittance/shared/crash';
import { type Health, judge } from '../domain/health.ts';
import { type Fate, fateOf, verdictOn } from '../domain/outcome.ts';
import type { Ports } from '../ports.ts';
import {
  type AttemptRecord,
  type Lane,
  lockLanes,
  recordEnds,
  type SettledLane,
  settleLanes,
} from '../store-deliveries.ts';
import { disableEndpoints } from '../store-endpoints.ts';
import type { Attempt } from './attempt-delivery.ts';

type Ended = { attempt: Attempt; fate: Fate };

/** Writes what came of attempts, when to try again, and what it says of their endpoints. */
export async function recordAttempts(
  { db, clock, logger }: Pick<Ports, 'db' | 'clock' | 'logger'>,
  attempts: readonly Attempt[],
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (trx) => {
    const keys = new Set(attempts.map(({ delivery }) => delivery.endpointKey));
    const lanes = await lockLanes(trx, [...keys]);
    const live = new Set(lanes.map((lane) => lane.endpointKey));
    const ends = attempts.map((attempt) => ({ attempt, fate: decide(attempt, live, now) }));
    const written = await recordEnds(trx, ends.map(recordOf));
    const names = new Set(written.map(nameOf));
    const mine = ends.filter(({ attempt }) => names.has(nameOf(attempt.delivery)));
    if (mine.length < ends.length) {
      logger.warn(
        { attempts: ends.length - mine.length },
        'attempts ended after their deliveries had gone to another',
      );
    }
    await settle(trx, lanes, mine, now, logger);
  });
  crashPoint('webhooks.recorded');
}

const nameOf = (delivery: { endpointKey: string; sequence: string }): string =>
  `${delivery.endpointKey}/${delivery.sequence}`;

function decide({ delivery, posted }: Attempt, live: ReadonlySet<string>, now: Date): Fate {
  const { attempts, endpointKey } = delivery;
  return fateOf({ name: nameOf(delivery), attempts, live: live.has(endpointKey) }, posted, now);
}

function recordOf({ attempt: { delivery, startedAt, ms, posted }, fate }: Ended): AttemptRecord {
  return {
    endpointKey: delivery.endpointKey,
    sequence: delivery.sequence,
    claim: delivery.claim,
    state: fate.state,
    dueAt: fate.state === 'waiting' ? fate.dueAt : null,
    counted: posted.kind !== 'stopped',
    startedAt,
    ms,
    status: posted.kind === 'answered' ? posted.status : null,
    failure: posted.kind === 'failed' ? posted.failure : null,
    answer: posted.kind === 'answered' ? posted.excerpt : null,
  };
}

async function settle(
  trx: Parameters<typeof settleLanes>[0],
  lanes: readonly Lane[],
  ends: readonly Ended[],
  now: Date,
  logger: Ports['logger'],
): Promise<void> {
  const byKey = Map.groupBy(ends, ({ attempt }) => attempt.delivery.endpointKey);
  const changed: SettledLane[] = [];
  const disabled: { key: string; reason: string }[] = [];
  for (const lane of lanes) {
    const own = byKey.get(lane.endpointKey);
    if (own === undefined) continue;
    const verdicts = own.map(({ attempt }) => verdictOn(attempt.posted));
    const { health, disable } = judge(lane, verdicts, now);
    if (disable !== undefined) {
      logger.info(
        { endpoint: own[0]?.attempt.delivery.endpoint.endpointId, why: disable },
        'disabled an endpoint',
      );
      disabled.push({ key: lane.endpointKey, reason: disable });
      continue;
    }
    const dueAt = earliest([
      ...own.flatMap(({ fate }) => (fate.state === 'waiting' ? [fate.dueAt] : [])),
      // A slot is free again, and what waits for one may be due.
      ...(lane.full ? [now] : []),
    ]);
    if (dueAt !== null || !sameHealth(lane, health)) {
      changed.push({ endpointKey: lane.endpointKey, dueAt, ...health });
    }
  }
  if (changed.length > 0) await settleLanes(trx, changed);
  if (disabled.length > 0) await disableEndpoints(trx, disabled);
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, time) => (first === null || time < first ? time : first), null);

const sameHealth = (a: Health, b: Health): boolean =>
  a.failures === b.failures && a.failingSince?.getTime() === b.failingSince?.getTime();
