import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { ConnectionError, errorClassOf } from './errors.ts';
import { NOT_CONNECTED, retryDelayMs } from './retry.ts';

const statuses = fc.integer({ min: 300, max: 599 });
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempts = fc.integer({ min: 1, max: 100 });
const codes = fc.constantFrom(undefined, 'unavailable', 'conflict', 'request_in_progress', 'rate_limited');

function errorOf(status: number, code: string | undefined, retryAfterSeconds?: number) {
  const ErrorClass = errorClassOf(status);
  return new ErrorClass('No.', { status, code, retryAfterSeconds });
}

test('a request that may do something twice is sent again only when nothing was done', async () => {
  await assertProperty(
    fc.property(statuses, codes, attempts, randoms, (status, code, attempt, random) => {
      const delay = retryDelayMs(errorOf(status, code), false, attempt, random);
      const nothingWasDone =
        status === 429 ||
        (status === 503 && code === 'unavailable') ||
        (status === 409 && code === 'request_in_progress');
      expect(delay !== undefined).toBe(nothingWasDone);
    }),
  );
  expect(retryDelayMs(new ConnectionError('', { code: 'broken_off' }), false, 1, 0)).toBeUndefined();
  expect(retryDelayMs(new ConnectionError('', { code: 'timed_out' }), false, 1, 0)).toBeUndefined();
  expect(retryDelayMs(new ConnectionError('', { code: NOT_CONNECTED }), false, 1, 0)).toBe(0);
});

test('a request that may be repeated is, unless it is wrong', async () => {
  await assertProperty(
    fc.property(statuses, attempts, randoms, (status, attempt, random) => {
      const delay = retryDelayMs(errorOf(status, undefined), true, attempt, random);
      expect(delay !== undefined).toBe([429, 500, 502, 503, 504].includes(status));
    }),
  );
  expect(retryDelayMs(new ConnectionError('', { code: 'broken_off' }), true, 1, 0.5)).toBe(250);
});

test('the delay is never shorter than what the API asks for, and never longer than a minute and a bit', async () => {
  await assertProperty(
    fc.property(fc.integer({ min: 0, max: 10_000 }), attempts, randoms, (seconds, attempt, random) => {
      const delay = retryDelayMs(errorOf(429, undefined, seconds), true, attempt, random);
      if (seconds > 60) return expect(delay).toBeUndefined();
      expect(delay).toBeGreaterThanOrEqual(seconds * 1_000);
      expect(delay).toBeLessThanOrEqual(60_250);
    }),
  );
});

test('without such a time the delay is drawn from 0 to twice as much with each attempt, up to 8 seconds', () => {
  const longest = [1, 2, 3, 4, 5, 6, 99].map((attempt) =>
    retryDelayMs(errorOf(500, undefined), true, attempt, 1),
  );
  expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  expect(retryDelayMs(errorOf(500, undefined), true, 5, 0)).toBe(0);
});
