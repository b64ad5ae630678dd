import { expect, test } from '@jest/globals';
import { askedUntil, deliveryAfter, outcomeOf, type SendResult } from './outcome.ts';

const now = new Date('2026-01-02T03:04:05.000Z');
const answered = (status: number) => ({
  kind: 'answered' as const,
  status,
  retryAfter: undefined,
  excerpt: '',
});
const failed: SendResult = { kind: 'failed', failure: 'timed_out' };
const stopped: SendResult = { kind: 'stopped' };

test.each([
  [199, 'failed'],
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
  ['a success ends the delivery', delivery, answered(200), 'delivered'],
  [
    'a success ends it also when the endpoint was deleted during the attempt',
    withoutEndpoint,
    answered(200),
    'delivered',
  ],
  [
    'a success ends it also when the endpoint got a new URL during the attempt',
    renewed,
    answered(200),
    'delivered',
  ],
  ['410 from the former URL leaves it waiting for the new one', renewed, answered(410), 'waiting'],
  ['the first failure leaves it waiting', delivery, failed, 'waiting'],
  ['the ninth failure leaves it waiting', { ...delivery, attempts: 8 }, failed, 'waiting'],
  ['the tenth failure exhausts it', { ...delivery, attempts: 9 }, failed, 'exhausted'],
  ['410 exhausts it', delivery, answered(410), 'exhausted'],
  ['a failure at a deleted endpoint cancels it', withoutEndpoint, failed, 'cancelled'],
  ['a stopped attempt at a deleted endpoint cancels it', withoutEndpoint, stopped, 'cancelled'],
])('%s', (_, of, result, state) => {
  expect(deliveryAfter(of, result, now).state).toBe(state);
});

test('a delivery whose attempt was stopped is due at once', () => {
  expect(deliveryAfter({ ...delivery, attempts: 5 }, stopped, now)).toEqual({ state: 'waiting', dueAt: now });
});

test('a delivery that fails at the former URL is due at once, with all its attempts', () => {
  expect(deliveryAfter(renewed, failed, now)).toEqual({ state: 'waiting', dueAt: now, startsNewCycle: true });
});

const asking = (status: number, retryAfter = '3600'): SendResult => ({ ...answered(status), retryAfter });

test.each([
  ['an answer that asks for an hour', asking(429), 3_600_000],
  ['an answer that asks for more than a day', asking(503, '86401'), 86_400_000],
  ['an answer that may not ask', asking(500), undefined],
  ['no answer', failed, undefined],
])('%s pauses the endpoint for %p ms', (_, result, ms) => {
  expect(askedUntil(result, now)).toEqual(ms && new Date(now.getTime() + ms));
});

test('only 429 and 503 may ask for a pause', () => {
  const dueAt = new Date(now.getTime() + 3_600_000);
  expect(deliveryAfter(delivery, asking(503), now)).toEqual({ state: 'waiting', dueAt });
  expect(deliveryAfter(delivery, asking(429), now)).toEqual({ state: 'waiting', dueAt });
  expect(deliveryAfter(delivery, asking(500), now)).toEqual(deliveryAfter(delivery, failed, now));
});
