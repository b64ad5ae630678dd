import { assertNever } from '@quittance/shared/result';
import { nextAttemptAt, RETRY_AFTER_MAX_MS, readRetryAfter } from './schedule.ts';

/** Why there was no answer. */
export type Failure =
  | 'timed_out'
  | 'not_resolved'
  | 'private_address'
  | 'not_secure'
  | 'not_connected'
  | 'broken_off'
  | 'headers_too_large'
  | 'not_signed';

/** The result of a POST. `stopped`: this process ended it, and whether it arrived is unknown. */
export type SendResult =
  | { kind: 'answered'; status: number; retryAfter: string | undefined; excerpt: string }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'stopped' };

export type AttemptOutcome = 'delivered' | 'gone' | 'failed' | 'unknown';

/** Only 2xx is a success: redirects are not followed. 410 asks to stop. */
export function outcomeOf(result: SendResult): AttemptOutcome {
  switch (result.kind) {
    case 'answered':
      if (result.status >= 200 && result.status < 300) return 'delivered';
      return result.status === 410 ? 'gone' : 'failed';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'unknown';
    default:
      return assertNever(result);
  }
}

/** The next state of a delivery. */
export type DeliveryUpdate = { state: 'delivered' | 'exhausted' | 'cancelled' } | Waiting;
type Waiting = {
  state: 'waiting';
  dueAt: Date;
  /** A new retry cycle begins, at an address that was not tried yet. */
  startsNewCycle?: true;
};

/**
 * A delivery's update after one more attempt. `gone`: the endpoint was disabled or deleted, so nothing is sent any more.
 * `renewed`: the attempt went to the endpoint's former address, so the next one is due at its new address.
 */
export function deliveryAfter(
  delivery: { name: string; attempts: number; endpoint: 'same' | 'renewed' | 'gone' },
  result: SendResult,
  now: Date,
): DeliveryUpdate {
  const outcome = outcomeOf(result);
  if (delivery.endpoint === 'renewed' && outcome !== 'delivered') {
    return { state: 'waiting', dueAt: now, startsNewCycle: true };
  }
  switch (outcome) {
    case 'delivered':
      return { state: 'delivered' };
    case 'gone':
      return { state: 'exhausted' };
    case 'unknown':
      return delivery.endpoint === 'gone' ? { state: 'cancelled' } : { state: 'waiting', dueAt: now };
    case 'failed': {
      if (delivery.endpoint === 'gone') return { state: 'cancelled' };
      const dueAt = nextAttemptAt(delivery.name, delivery.attempts + 1, now, askedPause(result, now));
      return dueAt === undefined ? { state: 'exhausted' } : { state: 'waiting', dueAt };
    }
    default:
      return assertNever(outcome);
  }
}

/** The end of the pause that a receiver asks for, at most a day. */
export function askedUntil(result: SendResult, now: Date): Date | undefined {
  const pause = askedPause(result, now);
  return pause === undefined ? undefined : new Date(now.getTime() + Math.min(pause, RETRY_AFTER_MAX_MS));
}

function askedPause(result: SendResult, now: Date): number | undefined {
  const mayAsk = result.kind === 'answered' && (result.status === 429 || result.status === 503);
  return mayAsk ? readRetryAfter(result.retryAfter, now) : undefined;
}
