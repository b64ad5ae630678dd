import { assertNever } from '@quittance/shared/result';

/** Why there was no answer. */
export const failures = [
  'timed_out',
  'not_resolved',
  'private_address',
  'not_secure',
  'not_connected',
  'broken_off',
  'headers_too_large',
  'not_signed',
] as const;
export type Failure = (typeof failures)[number];

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

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pause before each attempt, in milliseconds. There are as many attempts as pauses. */
export const pauses = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** Each pause varies by at most this part, so that the retries after an outage do not arrive together. */
const JITTER = 0.1;
/** The longest pause that a receiver may ask for: as long as the longest pause of the schedule. */
const RETRY_AFTER_MAX_MS = 24 * HOUR;

/**
 * When a delivery is tried again after `attempts` failures; undefined after the last one. The jitter is computed from the
 * delivery and the attempt, so that the result is always the same.
 * @param retryAfterMs the pause that the receiver asked for, with a 429 or 503
 */
export function nextAttemptAt(
  delivery: string,
  attempts: number,
  now: Date,
  retryAfterMs: number | undefined,
): Date | undefined {
  const pause = pauses[attempts];
  if (pause === undefined) return undefined;
  const jittered = pause * (1 + JITTER * (2 * fractionOf(`${delivery}#${attempts}`) - 1));
  const asked = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS);
  return new Date(now.getTime() + Math.max(Math.round(jittered), asked));
}

/** Hashes a text to a number from 0 to 1: FNV-1a, with the last step of murmur3, which spreads similar texts. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0xffff_ffff;
}

/** The `Retry-After` of an answer as milliseconds: seconds or a date (RFC 9110, 10.2.3). */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  // eslint-disable-next-line no-restricted-syntax -- seconds
  if (/^\d{1,9}$/.test(header)) return Number.parseInt(header, 10) * SECOND;
  // Date.parse alone would take "-1" for a year.
  const time = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(time - now.getTime(), 0);
}
