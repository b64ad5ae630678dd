import { expect, test } from '@jest/globals';
import { rateLimitHeaders } from './rate-limit.ts';

const now = new Date('2026-01-02T03:04:05.500Z');

test('an answer says what is left', () => {
  const headers = rateLimitHeaders({ allowed: true, limit: 30, remaining: 29, resetMs: 59_001 }, now);
  expect(Object.fromEntries(headers)).toEqual({
    'X-RateLimit-Limit': '30',
    'X-RateLimit-Remaining': '29',
    'RateLimit-Policy': '"default";q=30;w=60',
    RateLimit: '"default";r=29;t=60',
  });
});

test.each([
  [0, '1', '06'],
  [1, '1', '06'],
  [501, '1', '07'],
  [45_000, '45', '51'],
])('a refusal also says when to come back, never too early: after %i ms', (resetMs, seconds, at) => {
  const headers = rateLimitHeaders({ allowed: false, limit: 30, remaining: 0, resetMs }, now);
  expect(Object.fromEntries(headers)).toMatchObject({
    'Retry-After': seconds,
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(Date.parse(`2026-01-02T03:04:${at}Z`) / 1000),
  });
});
