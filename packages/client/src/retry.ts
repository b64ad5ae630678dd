import { ConnectionError, type QuittanceError } from './errors.ts';

const FIRST_DELAY_MS = 500;
const DELAY_MAX_MS = 8_000;
/** Whoever is told to wait for longer decides themselves: the error is thrown with `retryAfterSeconds`. */
const RETRY_AFTER_MAX_SECONDS = 60;
/** Clients that were told the same time do not all come back at the same moment. */
const SPREAD_MS = 250;

/** The code of a connection that was never made: the request cannot have arrived. */
export const NOT_CONNECTED = 'not_connected';

const statusesOfUnknownOutcome: readonly (number | undefined)[] = [500, 502, 503, 504];

/**
 * @param isRepeatable whether sending the request twice does nothing twice: it is no POST, or it has an Idempotency-Key
 */
function mayRepeat(error: QuittanceError, isRepeatable: boolean): boolean {
  // Nothing was done.
  if (error.status === 429 || (error.status === 503 && error.code === 'unavailable')) return true;
  if (error.status === 409) return error.code === 'request_in_progress';
  if (error instanceof ConnectionError) return isRepeatable || error.code === NOT_CONNECTED;
  return isRepeatable && statusesOfUnknownOutcome.includes(error.status);
}

/** A delay with full jitter, which doubles with each attempt up to `max`. */
export const backoffMs = (
  attempt: number,
  random: number,
  first = FIRST_DELAY_MS,
  max = DELAY_MAX_MS,
): number => random * Math.min(max, first * 2 ** (attempt - 1));

/**
 * After how many milliseconds a request that failed is sent again; undefined: not at all.
 * @param attempt 1 after the first failure
 * @param random from 0 (included) to 1
 */
export function retryDelayMs(
  error: QuittanceError,
  isRepeatable: boolean,
  attempt: number,
  random: number,
): number | undefined {
  if (!mayRepeat(error, isRepeatable)) return undefined;
  const { retryAfterSeconds: seconds } = error;
  if (seconds === undefined) return backoffMs(attempt, random);
  return seconds > RETRY_AFTER_MAX_SECONDS ? undefined : seconds * 1_000 + random * SPREAD_MS;
}
