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

/** What came of a POST. `stopped`: this process ended it itself, and nobody knows whether it arrived. */
export type Posted =
  | { kind: 'answered'; status: number; retryAfter: string | undefined; excerpt: string }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'stopped' };

export type Verdict = 'delivered' | 'gone' | 'failed' | 'unknown';

/** 2xx is success and nothing else is: a redirect is never followed. 410 asks us to stop. */
export function verdictOn(posted: Posted): Verdict {
  switch (posted.kind) {
    case 'answered':
      if (posted.status >= 200 && posted.status < 300) return 'delivered';
      return posted.status === 410 ? 'gone' : 'failed';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'unknown';
    default:
      return assertNever(posted);
  }
}

/** What becomes of a delivery. */
export type Fate = { state: 'delivered' | 'exhausted' | 'cancelled' } | Waiting;
type Waiting = {
  state: 'waiting';
  dueAt: Date;
  /** Its schedule begins anew, where it has not been tried yet. */
  roundBegins?: true;
};

/**
 * A delivery's fate after one more attempt. When its endpoint is gone there is nobody left to try; when it has been
 * renewed meanwhile, the attempt went to what it was before, and the next one is due at what it is now.
 */
export function fateOf(
  delivery: { name: string; attempts: number; endpoint: 'same' | 'renewed' | 'gone' },
  posted: Posted,
  now: Date,
): Fate {
  const verdict = verdictOn(posted);
  if (delivery.endpoint === 'renewed' && verdict !== 'delivered') {
    return { state: 'waiting', dueAt: now, roundBegins: true };
  }
  switch (verdict) {
    case 'delivered':
      return { state: 'delivered' };
    case 'gone':
      return { state: 'exhausted' };
    case 'unknown':
      return delivery.endpoint === 'gone' ? { state: 'cancelled' } : { state: 'waiting', dueAt: now };
    case 'failed': {
      if (delivery.endpoint === 'gone') return { state: 'cancelled' };
      const dueAt = nextAttemptAt(delivery.name, delivery.attempts + 1, now, askedPause(posted, now));
      return dueAt === undefined ? { state: 'exhausted' } : { state: 'waiting', dueAt };
    }
    default:
      return assertNever(verdict);
  }
}

/** Until when a receiver asks to be left alone, a day at most. */
export function askedUntil(posted: Posted, now: Date): Date | undefined {
  const pause = askedPause(posted, now);
  return pause === undefined ? undefined : new Date(now.getTime() + Math.min(pause, RETRY_AFTER_MAX_MS));
}

function askedPause(posted: Posted, now: Date): number | undefined {
  const mayAsk = posted.kind === 'answered' && (posted.status === 429 || posted.status === 503);
  return mayAsk ? readRetryAfter(posted.retryAfter, now) : undefined;
}
