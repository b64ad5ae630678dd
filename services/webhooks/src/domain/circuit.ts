import type { AttemptOutcome } from './outcome.ts';

/**
 * An endpoint's circuit breaker.
 *
 * | state | when | attempts in flight at once |
 * |---|---|---|
 * | closed | fewer than 4 attempts have failed in a row | 16; 2 until the endpoint has taken a delivery |
 * | open | the endpoint asked for a pause (429 or 503 with Retry-After) | 0 until then |
 * | half-open | the pause is over, or 4 or more attempts have failed in a row | 1, the delivery that waited longest |
 *
 * A success closes the circuit. Failures alone never open it: the retry schedule of each delivery spaces the attempts.
 */
export type Circuit = 'closed' | 'half_open' | 'open';

/** How the attempts at an endpoint have ended. */
export type QueueHealth = {
  /** Whether it has ever accepted a delivery at this URL. */
  hasSucceeded: boolean;
  consecutiveFailures: number;
  /** When the first of those failed. */
  failingSince: Date | null;
  lastFailedAt: Date | null;
  /** The end of the pause that it asked for. It stays until a delivery succeeds after it. */
  openUntil: Date | null;
  /** When the oldest event happened that failed since the last success. */
  missedSince: Date | null;
};

const HALF_OPEN_FROM_FAILURES = 4;
const CLOSED_CONCURRENCY = 16;
const HALF_OPEN_CONCURRENCY = 1;
/** An endpoint that has never accepted a delivery may never answer. */
const NEVER_SUCCEEDED_CONCURRENCY = 2;
const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;
/** Longer than any pause of the schedule: in a longer silence nothing was attempted, so it proves no failure. */
const SILENCE_MS = 27 * 3_600_000;

type CircuitHealth = Pick<QueueHealth, 'hasSucceeded' | 'consecutiveFailures' | 'openUntil'>;

export function circuitOf({ consecutiveFailures, openUntil }: CircuitHealth, now: Date): Circuit {
  if (openUntil !== null) return openUntil > now ? 'open' : 'half_open';
  return consecutiveFailures < HALF_OPEN_FROM_FAILURES ? 'closed' : 'half_open';
}

/** How many attempts may be in flight to an endpoint: new deliveries and retries together, and each. */
export type Concurrency = { total: number; newDeliveries: number; retries: number };

/**
 * New deliveries are claimed before retries. A quarter of the slots is kept for each kind, so that neither waits for a
 * backlog of the other: retries always leave a quarter to new deliveries, which leave a quarter while a retry is due.
 */
export function concurrencyOf(
  health: CircuitHealth,
  { now, isRetryDue }: { now: Date; isRetryDue: boolean },
): Concurrency {
  const closed = health.hasSucceeded ? CLOSED_CONCURRENCY : NEVER_SUCCEEDED_CONCURRENCY;
  const total = { closed, half_open: HALF_OPEN_CONCURRENCY, open: 0 }[circuitOf(health, now)];
  const retries = total - Math.floor(total / 4);
  return { total, newDeliveries: isRetryDue ? retries : total, retries };
}

/** Attempts at an endpoint that have ended. */
export type Ended = {
  /** In the order in which they ended. */
  outcomes: readonly AttemptOutcome[];
  /** When the events of the failed attempts happened. */
  failedEvents: readonly Date[];
  /** The ends of the pauses that answers asked for. */
  pauses: readonly Date[];
};

/** An endpoint's health after attempts, and the reason to disable it, if there is one. */
export function healthAfter(
  before: QueueHealth,
  { outcomes, failedEvents, pauses }: Ended,
  now: Date,
): { health: QueueHealth; disable: string | undefined } {
  const hasSucceededNow = outcomes.includes('delivered');
  let { consecutiveFailures, failingSince, lastFailedAt } = before;
  for (const outcome of outcomes) {
    if (outcome === 'delivered') [consecutiveFailures, failingSince, lastFailedAt] = [0, null, null];
    else if (outcome !== 'unknown') {
      const wasSilent = lastFailedAt !== null && now.getTime() - lastFailedAt.getTime() > SILENCE_MS;
      failingSince = wasSilent ? now : (failingSince ?? now);
      consecutiveFailures += 1;
      lastFailedAt = now;
    }
  }
  const missedBefore = hasSucceededNow ? null : before.missedSince;
  // A success that began before a pause does not end the pause.
  const isPauseOver = hasSucceededNow && before.openUntil !== null && before.openUntil <= now;
  const health = {
    hasSucceeded: before.hasSucceeded || hasSucceededNow,
    consecutiveFailures,
    failingSince,
    lastFailedAt,
    openUntil: extreme([...(isPauseOver ? [] : [before.openUntil]), ...pauses], (a, b) => a > b),
    // When the last attempt was a success, nothing of this batch was missed.
    missedSince:
      consecutiveFailures === 0 ? missedBefore : extreme([missedBefore, ...failedEvents], (a, b) => a < b),
  };
  if (outcomes.includes('gone')) return { health, disable: 'The endpoint answered 410 Gone.' };
  const isFailingTooLong =
    failingSince !== null && now.getTime() - failingSince.getTime() >= DISABLE_AFTER_MS;
  return { health, disable: isFailingTooLong ? 'No delivery has succeeded for 5 days.' : undefined };
}

const extreme = (times: readonly (Date | null)[], isBetter: (a: Date, b: Date) => boolean): Date | null =>
  times.reduce(
    (best, time) => (best === null || (time !== null && isBetter(time, best)) ? time : best),
    null,
  );
