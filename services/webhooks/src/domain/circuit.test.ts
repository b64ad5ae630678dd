import { expect, test } from '@jest/globals';
import { circuitOf, concurrencyOf, type Ended, healthAfter, type QueueHealth } from './circuit.ts';

const now = new Date('2026-01-10T00:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3_600_000);
const msAfter = (time: Date, ms: number) => new Date(time.getTime() + ms);
const [earlier, later] = [new Date(now.getTime() - 1), new Date(now.getTime() + 1)];

const healthy: QueueHealth = {
  hasSucceeded: true,
  consecutiveFailures: 0,
  failingSince: null,
  lastFailedAt: null,
  openUntil: null,
  missedSince: null,
};
const failing = (consecutiveFailures: number, failingSince: Date, lastFailedAt = failingSince) => ({
  ...healthy,
  ...{ consecutiveFailures, failingSince, lastFailedAt },
});
const after = (before: QueueHealth, ended: Partial<Ended>) =>
  healthAfter(before, { outcomes: [], failedEvents: [], pauses: [], ...ended }, now);

test('failures in a row are counted, and a success resets the count', () => {
  expect(after(healthy, { outcomes: ['failed', 'gone', 'unknown', 'failed'] }).health).toEqual(
    failing(3, now),
  );
  const before = failing(7, daysAgo(1));
  expect(after(before, { outcomes: ['failed', 'delivered'] }).health).toEqual(healthy);
  expect(after(before, { outcomes: ['delivered', 'failed'] }).health).toEqual(failing(1, now));
});

test('an endpoint has succeeded once a delivery arrived, and still has when others fail', () => {
  const never = { ...healthy, hasSucceeded: false };
  expect(after(never, { outcomes: ['failed'] }).health.hasSucceeded).toBe(false);
  expect(after(never, { outcomes: ['delivered', 'failed'] }).health.hasSucceeded).toBe(true);
  expect(after(healthy, { outcomes: ['failed'] }).health.hasSucceeded).toBe(true);
});

test.each([
  ['410', healthy, ['gone'], /410 Gone/],
  ['410 after a success', healthy, ['delivered', 'gone'], /410 Gone/],
  ['failing for less than five days', failing(40, msAfter(daysAgo(5), 1), daysAgo(1)), ['failed'], /^$/],
  ['failing for five days', failing(40, daysAgo(5), daysAgo(1.1)), ['failed'], /5 days/],
  ['a success after five days', failing(40, daysAgo(6), daysAgo(1)), ['delivered'], /^$/],
] as const)('whether an endpoint is disabled by %s', (_, before, outcomes, reason) => {
  expect(after(before, { outcomes }).disable ?? '').toMatch(reason);
});

test('failures with more than a day of silence between them do not add up to days of failure', () => {
  expect(after(failing(4, daysAgo(30), daysAgo(27)), { outcomes: ['failed'] })).toEqual({
    health: failing(5, now),
    disable: undefined,
  });
  // Up to 27 hours prove failure.
  const lastFailedAt = msAfter(now, -27 * 3_600_000);
  const health = (at: Date) => after(failing(4, daysAgo(3), at), { outcomes: ['failed'] }).health;
  expect(health(lastFailedAt).failingSince).toEqual(daysAgo(3));
  expect(health(msAfter(lastFailedAt, -1)).failingSince).toEqual(now);
  // The longest pause of the schedule, and its jitter.
  expect(after(failing(12, daysAgo(5), daysAgo(1.1)), { outcomes: ['failed'] }).disable).toBeDefined();
});

test('missedSince is the oldest event that failed since the last success', () => {
  const [older, younger] = [daysAgo(3), daysAgo(2)];
  const missed = (before: Date | null, outcomes: Ended['outcomes'], ...failedEvents: Date[]) =>
    after({ ...failing(1, daysAgo(1)), missedSince: before }, { outcomes, failedEvents }).health.missedSince;
  expect(missed(null, ['failed', 'failed'], younger, older)).toBe(older);
  expect(missed(older, ['failed'], younger)).toBe(older);
  expect(missed(older, ['delivered', 'failed'], younger)).toBe(younger);
  expect(missed(older, ['failed', 'delivered'], younger)).toBeNull();
  expect(missed(older, ['unknown'])).toBe(older);
});

test('a pause lasts until a delivery succeeds that began after it', () => {
  const openUntil = (before: Date | null, ended: Partial<Ended>) =>
    after({ ...healthy, openUntil: before }, ended).health.openUntil;
  expect(openUntil(null, {})).toBeNull();
  expect(openUntil(null, { outcomes: ['delivered'], pauses: [earlier, later, earlier] })).toBe(later);
  expect(openUntil(later, { outcomes: ['delivered'] })).toBe(later);
  expect(openUntil(later, { pauses: [earlier] })).toBe(later);
  expect(openUntil(earlier, {})).toBe(earlier);
  expect(openUntil(earlier, { outcomes: ['delivered'] })).toBeNull();
  expect(openUntil(now, { outcomes: ['delivered'] })).toBeNull();
});

test('a circuit is open during a pause, half-open after it or after four failures, and closed otherwise', () => {
  expect([0, 3, 4, 100].map((n) => circuitOf(failing(n, now), now))).toEqual([
    ...['closed', 'closed'],
    ...['half_open', 'half_open'],
  ]);
  expect(circuitOf({ ...healthy, openUntil: later }, now)).toBe('open');
  expect(circuitOf({ ...failing(9, now), openUntil: later }, now)).toBe('open');
  expect(circuitOf({ ...healthy, openUntil: earlier }, now)).toBe('half_open');
  expect(circuitOf({ ...healthy, openUntil: now }, now)).toBe('half_open');
});

test('the circuit limits how many attempts are in flight, and each kind leaves a quarter to the other', () => {
  const limits = (health: QueueHealth, isRetryDue: boolean) => {
    const { total, newDeliveries, retries } = concurrencyOf(health, { now, isRetryDue });
    return [total, newDeliveries, retries];
  };
  expect(limits(healthy, false)).toEqual([16, 16, 12]);
  expect(limits(healthy, true)).toEqual([16, 12, 12]);
  expect(limits({ ...healthy, hasSucceeded: false }, true)).toEqual([2, 2, 2]);
  expect(limits(failing(4, now), true)).toEqual([1, 1, 1]);
  expect(limits({ ...healthy, openUntil: later }, true)).toEqual([0, 0, 0]);
});
