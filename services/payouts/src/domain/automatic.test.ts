import { expect, test } from '@jest/globals';
import { nextRun, RETRY_AFTER_MS, schedules, toldAfter } from './automatic.ts';

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
