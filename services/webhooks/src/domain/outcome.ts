import { assertNever } from '@quittance/shared/result';
import { nextAttemptAt, readRetryAfter } from './schedule.ts';

/** Why there was no answer. */
export type Failure =
  | 'timed_out'
  | 'not_resolved'
  | 'private_address'
  | 'not_connected'
  | 'broken_off'
  | 'headers_too_large';

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
export type Fate = { state: 'delivered' | 'exhausted' | 'cancelled' } | { state: 'waiting'; dueAt: Date };

/** A delivery's fate after one more attempt. Without a live endpoint there is nobody left to try. */
export function fateOf(
  delivery: { name: string; attempts: number; live: boolean },
  posted: Posted,
  now: Date,
): Fate {
  const verdict = verdictOn(posted);
  switch (verdict) {
    case 'delivered':
      return { state: 'delivered' };
    case 'gone':
      return { state: 'exhausted' };
    case 'unknown':
      return delivery.live ? { state: 'waiting', dueAt: now } : { state: 'cancelled' };
    case 'failed': {
      if (!delivery.live) return { state: 'cancelled' };
      const dueAt = nextAttemptAt(delivery.name, delivery.attempts + 1, now, askedPause(posted, now));
      return dueAt === undefined ? { state: 'exhausted' } : { state: 'waiting', dueAt };
    }
    default:
      return assertNever(verdict);
  }
}

function askedPause(posted: Posted, now: Date): number | undefined {
  const mayAsk = posted.kind === 'answered' && (posted.status === 429 || posted.status === 503);
  return mayAsk ? readRetryAfter(posted.retryAfter, now) : undefined;
}
