import { expect, test } from '@jest/globals';
import { ageOf, durationOf } from './durations.ts';

test.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [7_199, '1 hour'],
  [86_400 * 2, '2 days'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationOf(seconds)).toBe(text);
});

test('a time that lies ahead, by which clocks may differ, was just now', () => {
  const now = new Date('2026-11-26T12:00:00Z');
  expect(ageOf('2026-11-26T11:58:30Z', now)).toBe('1 minute');
  expect(ageOf('2026-11-26T12:00:03Z', now)).toBe('0 seconds');
});
