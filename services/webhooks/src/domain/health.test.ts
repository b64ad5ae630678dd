import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { healthy, judge, shareOut, slotsOf } from './health.ts';

const now = new Date('2026-01-10T00:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3_600_000);

test('failures in a row are counted, and a success forgets them', () => {
  expect(judge(healthy, ['failed', 'gone', 'unknown', 'failed'], now).health).toEqual({
    failures: 3,
    failingSince: now,
  });
  expect(judge({ failures: 7, failingSince: daysAgo(1) }, ['failed', 'delivered'], now).health).toEqual(
    healthy,
  );
  expect(judge({ failures: 7, failingSince: daysAgo(1) }, ['delivered', 'failed'], now).health).toEqual({
    failures: 1,
    failingSince: now,
  });
});

test.each([
  ['410', healthy, ['gone'], true],
  ['410 after a success', healthy, ['delivered', 'gone'], true],
  ['failing for less than five days', { failures: 40, failingSince: daysAgo(4.99) }, ['failed'], false],
  ['failing for five days', { failures: 40, failingSince: daysAgo(5) }, ['failed'], true],
  ['a success after five days', { failures: 40, failingSince: daysAgo(6) }, ['delivered'], false],
] as const)('%s', (_, before, verdicts, disabled) => {
  expect(judge(before, verdicts, now).disable !== undefined).toBe(disabled);
});

test('an endpoint that fails keeps fewer slots, never none', () => {
  expect([0, 1, 2, 3, 4, 5, 100].map(slotsOf)).toEqual([16, 8, 4, 2, 1, 1, 1]);
});

test('everybody gets some before one gets all, and nothing is shared out twice', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ failures: fc.integer({ min: 0, max: 6 }) }), { minLength: 1, maxLength: 64 }),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 900 }),
      (lanes, room, others) => {
        const shares = shareOut(lanes, room, room + others);
        expect(shares).toHaveLength(lanes.length);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(room);
        shares.forEach((share, i) => {
          expect(share).toBeLessThanOrEqual(slotsOf(lanes[i]?.failures ?? 0));
          expect(share).toBeGreaterThanOrEqual(i < room ? 1 : 0);
        });
      },
    ),
  );
  expect(shareOut([{ failures: 0 }], 200, 1_024)).toEqual([16]);
  expect(shareOut([{ failures: 0 }], 64, 64)).toEqual([4]);
  expect(shareOut([{ failures: 0 }, { failures: 0 }, { failures: 0 }], 2, 2)).toEqual([1, 1, 0]);
});
