import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { healthy, judge, missedAfter, pauseAfter, shareOut, slotsOf } from './health.ts';

const now = new Date('2026-01-10T00:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3_600_000);

test('failures in a row are counted, and a success forgets them', () => {
  expect(judge(healthy, ['failed', 'gone', 'unknown', 'failed'], now).health).toEqual({
    failures: 3,
    failingSince: now,
    failedAt: now,
  });
  expect(
    judge({ failures: 7, failingSince: daysAgo(1), failedAt: daysAgo(1) }, ['failed', 'delivered'], now)
      .health,
  ).toEqual(healthy);
  expect(
    judge({ failures: 7, failingSince: daysAgo(1), failedAt: daysAgo(1) }, ['delivered', 'failed'], now)
      .health,
  ).toEqual({
    failures: 1,
    failingSince: now,
    failedAt: now,
  });
});

test.each([
  ['410', healthy, ['gone'], true],
  ['410 after a success', healthy, ['delivered', 'gone'], true],
  [
    'failing for less than five days',
    { failures: 40, failingSince: daysAgo(4.99), failedAt: daysAgo(1) },
    ['failed'],
    false,
  ],
  [
    'failing for five days',
    { failures: 40, failingSince: daysAgo(5), failedAt: daysAgo(1.1) },
    ['failed'],
    true,
  ],
  [
    'a success after five days',
    { failures: 40, failingSince: daysAgo(6), failedAt: daysAgo(1) },
    ['delivered'],
    false,
  ],
] as const)('%s', (_, before, verdicts, disabled) => {
  expect(judge(before, verdicts, now).disable !== undefined).toBe(disabled);
});

test('failures with more than a day of silence between them begin anew', () => {
  const rare = { failures: 4, failingSince: daysAgo(30), failedAt: daysAgo(27) };
  expect(judge(rare, ['failed'], now)).toEqual({
    health: { failures: 5, failingSince: now, failedAt: now },
    disable: undefined,
  });
  // The longest pause, and its jitter.
  const steady = { failures: 12, failingSince: daysAgo(5), failedAt: daysAgo(1.1) };
  expect(judge(steady, ['failed'], now).disable).toBeDefined();
});

test('what is missed begins with the oldest event that was tried in vain since the last success', () => {
  const failing = { failures: 1, failingSince: now, failedAt: now };
  const [older, younger] = [daysAgo(3), daysAgo(2)];
  expect(missedAfter(null, { failed: [younger, older], arrived: false }, failing)).toBe(older);
  expect(missedAfter(older, { failed: [younger], arrived: false }, failing)).toBe(older);
  expect(missedAfter(older, { failed: [younger], arrived: true }, failing)).toBe(younger);
  expect(missedAfter(older, { failed: [younger], arrived: true }, healthy)).toBeNull();
  expect(missedAfter(older, { failed: [], arrived: false }, healthy)).toBe(older);
});

test('a pause lasts until something arrives that was begun after it', () => {
  const [earlier, later] = [new Date(now.getTime() - 1), new Date(now.getTime() + 1)];
  expect(pauseAfter(null, { asked: [], arrived: false }, now)).toBeNull();
  expect(pauseAfter(null, { asked: [earlier, later, earlier], arrived: true }, now)).toBe(later);
  expect(pauseAfter(later, { asked: [], arrived: true }, now)).toBe(later);
  expect(pauseAfter(later, { asked: [earlier], arrived: false }, now)).toBe(later);
  expect(pauseAfter(earlier, { asked: [], arrived: false }, now)).toBe(earlier);
  expect(pauseAfter(earlier, { asked: [], arrived: true }, now)).toBeNull();
  expect(slotsOf(0, true, true)).toBe(1);
});

test('an endpoint that fails keeps fewer slots, never none; one that never took anything begins with few', () => {
  expect([0, 1, 2, 3, 4, 5, 100].map((failures) => slotsOf(failures, true))).toEqual([16, 8, 4, 2, 1, 1, 1]);
  expect([0, 1, 2, 3, 4, 5, 100].map((failures) => slotsOf(failures, false))).toEqual([2, 2, 2, 2, 1, 1, 1]);
});

const lane = { failures: 0, proven: true, probing: false, prompt: true, retriesDue: false };
const failing = { ...lane, failures: 4, prompt: false };
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

test('everybody gets some before one gets all, and nothing is shared out twice', () => {
  const lanes = fc.array(
    fc.record({
      failures: fc.integer({ min: 0, max: 6 }),
      proven: fc.boolean(),
      probing: fc.boolean(),
      prompt: fc.boolean(),
      retriesDue: fc.boolean(),
    }),
    { minLength: 1, maxLength: 64 },
  );
  const room = fc.record({
    prompt: fc.integer({ min: 0, max: 1_100 }),
    doubtful: fc.integer({ min: 0, max: 600 }),
  });
  fc.assert(
    fc.property(lanes, room, fc.integer({ min: 1, max: 400 }), (all, free, atOnce) => {
      const portions = shareOut(all, free, atOnce);
      expect(portions).toHaveLength(all.length);
      const news = portions.map((portion, i) => (all[i]?.prompt ? portion.news : 0));
      const doubtful = portions.map((portion, i) => portion.all - (news[i] ?? 0));
      for (const [taken, of] of [
        [news, free.prompt],
        [doubtful, free.doubtful],
      ] as const) {
        expect(sum(taken)).toBeLessThanOrEqual(Math.min(of, atOnce));
      }
      let prompts = 0;
      portions.forEach((portion, i) => {
        const one = all[i] ?? lane;
        expect(Math.max(portion.news, portion.retries)).toBeLessThanOrEqual(
          slotsOf(one.failures, one.proven, one.probing),
        );
        if (one.prompt) expect(portion.news > 0).toBe(prompts++ < Math.min(free.prompt, atOnce));
        if (one.prompt && !one.retriesDue) expect(portion.retries).toBe(0);
      });
    }),
  );
});

test('what is doubtful takes nothing from what is prompt', () => {
  const room = { prompt: 64, doubtful: 0 };
  expect(shareOut([lane, failing, { ...lane, retriesDue: true }], room, 400)).toEqual([
    { news: 4, retries: 0, all: 4 },
    { news: 0, retries: 0, all: 0 },
    { news: 4, retries: 0, all: 4 },
  ]);
  expect(shareOut([lane, failing], { prompt: 0, doubtful: 64 }, 400)).toEqual([
    { news: 0, retries: 0, all: 0 },
    { news: 1, retries: 1, all: 1 },
  ]);
  expect(shareOut([lane], { prompt: 1_024, doubtful: 512 }, 400).map(({ news }) => news)).toEqual([16]);
  const three = shareOut([lane, lane, lane], { prompt: 2, doubtful: 2 }, 400);
  expect(three.map(({ news }) => news)).toEqual([1, 1, 0]);
});
