import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { nextAttemptAt, pauses, readRetryAfter } from './outcome.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const waits = (attempts: number, delivery = '1/1', asked?: number): number | undefined => {
  const at = nextAttemptAt(delivery, attempts, now, asked);
  return at && at.getTime() - now.getTime();
};

test('the schedule has ten attempts over three days', () => {
  expect(pauses).toHaveLength(10);
  expect(pauses.reduce((sum: number, pause) => sum + pause, 0)).toBe(272_105_000);
  expect(waits(0)).toBe(0);
  expect(waits(10)).toBeUndefined();
});

test('the jitter of a pause is at most a tenth and always the same for one attempt', async () => {
  await assertProperty(
    fc.property(
      fc.bigInt(1n, 2n ** 60n),
      fc.bigInt(1n, 2n ** 60n),
      fc.integer({ min: 1, max: 9 }),
      (a, b, attempts) => {
        const pause = pauses[attempts] ?? 0;
        const wait = waits(attempts, `${a}/${b}`) ?? 0;
        expect(wait).toBeGreaterThanOrEqual(Math.floor(0.9 * pause));
        expect(wait).toBeLessThanOrEqual(Math.ceil(1.1 * pause));
        expect(waits(attempts, `${a}/${b}`)).toBe(wait);
      },
    ),
  );
});

test('the jitter of similar deliveries is spread over the whole tenth', () => {
  const all = Array.from({ length: 1_000 }, (_, i) => (waits(2, `7/${i}`) ?? 0) / (pauses[2] ?? 1));
  for (let part = 0; part < 10; part++) {
    const low = 0.9 + 0.02 * part;
    expect(all.filter((wait) => wait >= low && wait < low + 0.02).length).toBeGreaterThan(50);
  }
});

test('the jitter of an attempt is the same in every process and release', () => {
  expect([1, 4, 9].map((attempts) => waits(attempts, '7/1'))).toEqual([5_486, 7_623_359, 78_499_795]);
});

test('a receiver may ask for a longer pause, at most a day, and never for a shorter one', () => {
  expect(waits(1, '1/1', 60_000)).toBe(60_000);
  expect(waits(1, '1/1', 1)).toBe(waits(1));
  expect(waits(1, '1/1', 10 ** 12)).toBe(24 * 3_600_000);
  expect(waits(10, '1/1', 60_000)).toBeUndefined();
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['120', 120_000],
  ['120 s', undefined],
  ['00000120', 120_000],
  ['9'.repeat(400), undefined],
  ['-1', undefined],
  ['1e9', undefined],
  ['0x10', undefined],
  ['12.5', undefined],
  ['soon', undefined],
  ['120, 7200', undefined],
  ['Fri, 99 Foo 2026 99:99:99 GMT', undefined],
  ['2026-01-01T00:00:00Z', undefined],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
])('Retry-After %j is %j ms', (header, ms) => {
  expect(readRetryAfter(header, now)).toBe(ms);
});
