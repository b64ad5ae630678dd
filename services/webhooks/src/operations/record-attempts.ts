import { crashPoint } from '@quittance/shared/crash';
import { type Health, judge, missedAfter, pauseAfter } from '../domain/health.ts';
import { askedUntil, type Fate, fateOf, verdictOn } from '../domain/outcome.ts';
import type { Ports } from '../ports.ts';
import { type AttemptRecord, recordEnds } from '../store-deliveries.ts';
import { disableEndpoints } from '../store-endpoints.ts';
import { type Lane, lockLanes, type SettledLane, settleLanes } from '../store-lanes.ts';
import type { Attempt } from './attempt-delivery.ts';

type Ended = { attempt: Attempt; fate: Fate };

/** Writes what came of attempts, when to try again, and what it says of their endpoints. */
export async function recordAttempts(
  { db, clock, logger, attempted }: Pick<Ports, 'db' | 'clock' | 'logger' | 'attempted'>,
  attempts: readonly Attempt[],
): Promise<void> {
  const now = clock.now();
  const recorded = await db.transaction(async (trx) => {
    const keys = new Set(attempts.map(({ delivery }) => delivery.endpointKey));
    const lanes = await lockLanes(trx, [...keys]);
    const live = new Map(lanes.map((lane) => [lane.endpointKey, lane]));
    const ends = attempts.map((attempt) => ({ attempt, fate: decide(attempt, live, now) }));
    const written = await recordEnds(trx, ends.map(recordOf));
    crashPoint('webhooks.recording');
    const claims = new Set(written.map(claimOf));
    const mine = ends.filter(({ attempt }) => claims.has(claimOf(attempt.delivery)));
    if (mine.length < ends.length) {
      logger.warn(
        { attempts: ends.length - mine.length },
        'attempts ended after their deliveries had gone to another',
      );
    }
    await settle(trx, lanes, mine, now, logger);
    return mine;
  });
  attempted?.(recorded.map(({ fate }) => fate));
  crashPoint('webhooks.recorded');
}

const nameOf = (delivery: { endpointKey: string; sequence: string }): string =>
  `${delivery.endpointKey}/${delivery.sequence}`;

/** The same delivery may have been claimed by another since. */
const claimOf = (delivery: { endpointKey: string; sequence: string; claim: string }): string =>
  `${nameOf(delivery)}/${delivery.claim.replaceAll('-', '')}`;

/** Whether an attempt says something of its endpoint as it is now: not when that has begun anew since. */
const isOf = ({ generation }: Lane, { delivery }: Attempt): boolean =>
  delivery.endpoint.generation === generation;

function decide(attempt: Attempt, live: ReadonlyMap<string, Lane>, now: Date): Fate {
  const { delivery, posted } = attempt;
  const lane = live.get(delivery.endpointKey);
  const endpoint = lane === undefined ? 'gone' : isOf(lane, attempt) ? 'same' : 'renewed';
  const attempts = delivery.attempts - delivery.roundStart;
  return fateOf({ name: nameOf(delivery), attempts, endpoint }, posted, now);
}

function recordOf({ attempt: { delivery, startedAt, ms, posted }, fate }: Ended): AttemptRecord {
  return {
    endpointKey: delivery.endpointKey,
    sequence: delivery.sequence,
    claim: delivery.claim,
    state: fate.state,
    dueAt: fate.state === 'waiting' ? fate.dueAt : null,
    roundBegins: fate.state === 'waiting' && fate.roundBegins === true,
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
    const telling = own.filter(({ attempt }) => isOf(lane, attempt));
    const verdicts = telling.map(({ attempt }) => verdictOn(attempt.posted));
    const { health, disable } = judge(lane, verdicts, now);
    if (disable !== undefined) {
      logger.info(
        { endpoint: own[0]?.attempt.delivery.endpoint.endpointId, why: disable },
        'disabled an endpoint',
      );
      // Its lane is written as every other: what it says then is noted as it goes.
      disabled.push({ key: lane.endpointKey, reason: disable });
    }
    const due = dueIn(lane, own, now);
    const arrived = verdicts.includes('delivered');
    const proven = lane.proven || arrived;
    const asked = telling.flatMap(({ attempt }) => askedUntil(attempt.posted, now) ?? []);
    const pausedUntil = pauseAfter(lane.pausedUntil, { asked, arrived }, now);
    const failed = telling
      .filter((_, i) => verdicts[i] === 'failed' || verdicts[i] === 'gone')
      .map(({ attempt }) => attempt.delivery.createdAt);
    const missedSince = missedAfter(lane.missedSince, { failed, arrived }, health);
    if (
      due.dueAt !== null ||
      due.retryDueAt !== null ||
      proven !== lane.proven ||
      pausedUntil?.getTime() !== lane.pausedUntil?.getTime() ||
      !sameHealth(lane, health)
    ) {
      changed.push({ endpointKey: lane.endpointKey, ...due, proven, pausedUntil, missedSince, ...health });
    }
  }
  if (changed.length > 0) await settleLanes(trx, changed);
  if (disabled.length > 0) await disableEndpoints(trx, disabled, now);
}

/** When to look again for what is new in a lane, and for what is to be retried; null when nothing has changed. */
function dueIn(lane: Lane, ends: readonly Ended[], now: Date): Pick<SettledLane, 'dueAt' | 'retryDueAt'> {
  const waiting = (retries: boolean) =>
    ends.flatMap(({ attempt: { delivery, posted }, fate }) =>
      fate.state === 'waiting' && (delivery.retry || posted.kind !== 'stopped') === retries
        ? [fate.dueAt]
        : [],
    );
  // A slot is free again, and what waits for one may be due.
  return {
    dueAt: earliest([...waiting(false), ...(lane.full ? [now] : [])]),
    retryDueAt: earliest([...waiting(true), ...(lane.full || lane.retriesFull ? [now] : [])]),
  };
}

const earliest = (times: readonly Date[]): Date | null =>
  times.reduce<Date | null>((first, time) => (first === null || time < first ? time : first), null);

const sameHealth = (a: Health, b: Health): boolean =>
  a.failures === b.failures &&
  a.failingSince?.getTime() === b.failingSince?.getTime() &&
  a.failedAt?.getTime() === b.failedAt?.getTime();
