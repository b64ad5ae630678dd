import { expect, test } from '@jest/globals';
import { deliveryAfter, outcomeOf, type SendResult } from './outcome.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const answered = (status: number): SendResult => ({
  kind: 'answered',
  status,
  retryAfter: undefined,
  excerpt: '',
});
const failed: SendResult = { kind: 'failed', failure: 'timed_out' };
const stopped: SendResult = { kind: 'stopped' };

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [300, 'failed'],
  [301, 'failed'],
  [307, 'failed'],
  [400, 'failed'],
  [404, 'failed'],
  [410, 'gone'],
  [429, 'failed'],
  [500, 'failed'],
])('%i is %s', (status, outcome) => {
  expect(outcomeOf(answered(status))).toBe(outcome);
});

const delivery = { name: '1/1', attempts: 0, endpoint: 'same' as const };
const renewed = { ...delivery, attempts: 9, endpoint: 'renewed' as const };
const withoutEndpoint = { ...delivery, endpoint: 'gone' as const };

test.each([
  ['a success ends it', delivery, answered(200), 'delivered'],
  ['also of an endpoint deleted meanwhile', withoutEndpoint, answered(200), 'delivered'],
  ['and of one renewed meanwhile', renewed, answered(200), 'delivered'],
  ['which may take what its former address did not', renewed, failed, 'waiting'],
  ['even asked to stop', renewed, answered(410), 'waiting'],
  ['a failure waits', delivery, failed, 'waiting'],
  ['the ninth too', { ...delivery, attempts: 8 }, failed, 'waiting'],
  ['the tenth was the last', { ...delivery, attempts: 9 }, failed, 'exhausted'],
  ['410 is not tried again', delivery, answered(410), 'exhausted'],
  ['nobody is left to try', withoutEndpoint, failed, 'cancelled'],
  ['what we ended waits', delivery, stopped, 'waiting'],
  ['what we ended of nobody', withoutEndpoint, stopped, 'cancelled'],
])('%s', (_, of, result, state) => {
  expect(deliveryAfter(of, result, now).state).toBe(state);
});

test('what we ended ourselves is due at once', () => {
  expect(deliveryAfter({ ...delivery, attempts: 5 }, stopped, now)).toEqual({ state: 'waiting', dueAt: now });
});

test('only 429 and 503 may ask for time', () => {
  const asking = (status: number): SendResult => ({
    kind: 'answered',
    status,
    retryAfter: '3600',
    excerpt: '',
  });
  const dueAt = new Date(now.getTime() + 3_600_000);
  expect(deliveryAfter(delivery, asking(503), now)).toEqual({ state: 'waiting', dueAt });
  expect(deliveryAfter(delivery, asking(429), now)).toEqual({ state: 'waiting', dueAt });
  expect(deliveryAfter(delivery, asking(500), now)).toEqual(deliveryAfter(delivery, failed, now));
});
