import { expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import {
  afterPayout,
  automaticAmount,
  nextRun,
  RETRY_AFTER_MS,
  schedules,
  shownError,
  toldAfter,
} from './automatic.ts';
import { CANCELLED, REJECTED } from './states.ts';

test.each([
  ['daily', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
  ['daily', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
  ['threshold', '2026-03-01T00:00:00.000Z', '2026-03-01T00:05:00.000Z'],
] as const)('a %s rule that ran at %s runs next at %s', (schedule, after, next) => {
  expect(nextRun(schedule, new Date(after)).toISOString()).toBe(next);
});

test.each([
  ['invalid_request', null, 'invalid_request'],
  ['insufficient_balance', 'invalid_request', 'insufficient_balance'],
  ['unavailable', null, null],
  ['unavailable', 'invalid_request', 'invalid_request'],
  [null, 'invalid_request', null],
  [null, null, null],
] as const)(
  'a run that ends with %p, after its merchant was told of %p, leaves %p as what was told',
  (error, before, after) => {
    expect(toldAfter(error, before)).toBe(after);
  },
);

test('a rule runs daily or from a threshold on, and again ten minutes after a run that could not be carried out', () => {
  expect([schedules, RETRY_AFTER_MS]).toEqual([['daily', 'threshold'], 600_000]);
});

const noon = new Date('2026-03-01T12:00:00.000Z');
const minutesAfter = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);
const rule: Parameters<typeof afterPayout>[0] = {
  ...{ schedule: 'threshold', enabled: true, failures: 0, nextRunAt: minutesAfter(3), lastError: null },
};
const failed = { status: 'failed', failedReason: 'The recipient refuses it.' } as const;

test.each([
  [0, 5],
  [1, 10],
  [2, 20],
  [8, 1_280],
  [9, 1_440],
  [5_000, 1_440],
])(
  'a rule with a threshold of which %p payouts have failed runs again after %p minutes',
  (failures, minutes) => {
    expect(nextRun('threshold', noon, failures)).toEqual(minutesAfter(minutes));
    expect(nextRun('daily', noon, failures)).toEqual(new Date('2026-03-02T00:00:00.000Z'));
  },
);

test('a failed payout makes its rule wait longer, and a mined one as long as usual again', () => {
  const once = afterPayout(rule, failed, noon);
  expect(once).toEqual({ enabled: true, failures: 1, nextRunAt: minutesAfter(10), lastError: null });
  const twice = afterPayout({ ...rule, ...once }, failed, noon);
  expect(twice).toMatchObject({ failures: 2, nextRunAt: minutesAfter(20) });
  const mined = afterPayout({ ...rule, ...twice }, { status: 'mined', failedReason: null }, noon);
  expect(mined).toEqual({ enabled: true, failures: 0, nextRunAt: minutesAfter(5), lastError: null });
});

test('the end of a payout makes no rule run earlier than after a failure, nor later than usual', () => {
  const late = { ...rule, nextRunAt: minutesAfter(2_000) };
  expect(afterPayout(late, failed, noon).nextRunAt).toEqual(minutesAfter(2_000));
  expect(afterPayout(rule, { status: 'mined', failedReason: null }, noon).nextRunAt).toEqual(minutesAfter(3));
});

test.each([CANCELLED, REJECTED])(
  'a payout that its merchant does not want disables its rule: %s',
  (failedReason) => {
    const cancelled = { status: 'failed', failedReason } as const;
    expect(afterPayout({ ...rule, failures: 3, lastError: 'unavailable' }, cancelled, noon)).toEqual({
      ...{ enabled: false, failures: 0, nextRunAt: noon, lastError: CANCELLED },
    });
  },
);

test('a payout that was mined disables no rule, even when its cancellation came too late', () => {
  const mined = { status: 'mined', failedReason: CANCELLED } as const;
  expect(afterPayout(rule, mined, noon)).toMatchObject({ enabled: true, lastError: null });
});

test.each([
  [null, 0, null],
  [null, 1, 'payout_failed'],
  ['unavailable', 1, 'unavailable'],
] as const)(
  'a rule with the error %p, of which %p payouts have failed, shows %p',
  (lastError, failures, shown) => {
    expect(shownError({ lastError, failures })).toBe(shown);
  },
);

test.each([
  [104n, 0n, 0, { amount: 100n, takesAll: true }],
  [103n, 0n, 0, undefined],
  [108n, 0n, 0, { amount: 100n, takesAll: true }],
  [200n, 50n, 2, { amount: 138n, takesAll: false }],
  [162n, 50n, 2, { amount: 100n, takesAll: false }],
  [161n, 50n, 2, undefined],
  [10n, 50n, 2, undefined],
])(
  'of a balance of %p an automatic payout of at least 100, with a fee of 4, leaves the %p that %p open claim links promise, and their fees',
  (available, promised, links, pays) => {
    const balance = { available: units(available), least: units(100n), networkFee: units(4n) };
    expect(automaticAmount(balance, { amount: units(promised), links })).toEqual(pays);
  },
);

test.each([
  ['pays what the policy allows of it', 200n, 0n, 150n, { amount: 150n, takesAll: false }],
  [
    'pays the least amount when the policy allows just that',
    200n,
    0n,
    100n,
    { amount: 100n, takesAll: false },
  ],
  ['pays nothing when the policy allows less than that', 200n, 0n, 99n, undefined],
  ['pays nothing when the balance has less than that', 103n, 0n, 150n, undefined],
  [
    'pays what the balance has when the policy allows as much',
    200n,
    0n,
    196n,
    { amount: 196n, takesAll: false },
  ],
  [
    'pays no more than the balance has when the policy allows more',
    200n,
    0n,
    300n,
    { amount: 196n, takesAll: false },
  ],
  ['pays what the policy allows of what a link leaves', 200n, 50n, 120n, { amount: 120n, takesAll: false }],
  ['pays what a link leaves when the policy allows more', 200n, 50n, 150n, { amount: 142n, takesAll: false }],
])('an automatic payout %s', (_, available, promised, room, pays) => {
  const balance = { available: units(available), least: units(100n), networkFee: units(4n) };
  const links = { amount: units(promised), links: promised === 0n ? 0 : 1 };
  expect(automaticAmount(balance, links, units(room))).toEqual(pays);
});
