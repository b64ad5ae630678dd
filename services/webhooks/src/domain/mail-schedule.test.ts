import { describe, expect, test } from '@jest/globals';
import { type Backlog, mailAfter, mailPauses, nextMail } from './mail-schedule.ts';

const now = new Date('2026-11-27T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const inMinutes = (minutes: number) => minutesAgo(-minutes);
const backlog = (given: Partial<Backlog>): Backlog => ({
  ...{ topic: 'sales', waiting: 0, singles: 0, oldestSingleAt: null, summaryAt: null },
  ...given,
});
const notification = { type: 'notification', topic: 'sales' };
const summary = { type: 'summary', topic: 'sales' };

describe('the next mail', () => {
  test.each<[string, Partial<Backlog>, unknown]>([
    ['nothing waits', {}, { type: 'nothing' }],
    ['one waits', { waiting: 1 }, notification],
    ['the tenth in the hour', { waiting: 1, singles: 9, oldestSingleAt: minutesAgo(50) }, notification],
    [
      'the eleventh in the hour waits until the first is an hour old',
      { waiting: 1, singles: 10, oldestSingleAt: minutesAgo(50) },
      { type: 'wait', until: inMinutes(10) },
    ],
    ['eleven at once are summed up', { waiting: 11 }, summary],
    [
      'after a summary all waits for an hour',
      { waiting: 1, summaryAt: minutesAgo(59) },
      { type: 'wait', until: inMinutes(1) },
    ],
    ['after that hour few are single again', { waiting: 2, summaryAt: minutesAgo(60) }, notification],
    ['after that hour many are summed up', { waiting: 11, summaryAt: minutesAgo(60) }, summary],
    [
      'a single one that has waited is no summary',
      { waiting: 1, singles: 10, oldestSingleAt: minutesAgo(60) },
      notification,
    ],
  ])('%s', (_what, given, expected) => {
    expect(nextMail([backlog(given)], now)).toEqual(expected);
  });

  test('about what needs attention comes before sales, and does not wait for them', () => {
    const sales = backlog({ waiting: 400, summaryAt: minutesAgo(5) });
    const attention = backlog({ topic: 'attention', waiting: 1 });
    expect(nextMail([attention, sales], now)).toEqual({ type: 'notification', topic: 'attention' });
    const late = backlog({ topic: 'attention', waiting: 1, singles: 10, oldestSingleAt: minutesAgo(30) });
    expect(nextMail([late, sales], now)).toEqual({ type: 'wait', until: inMinutes(30) });
    expect(nextMail([sales, late], now)).toEqual({ type: 'wait', until: inMinutes(30) });
    expect(nextMail([attention, backlog({ waiting: 1 })], now)).toMatchObject({ topic: 'attention' });
    expect(nextMail([backlog({}), sales], now)).toEqual({ type: 'wait', until: inMinutes(55) });
  });
});

test('a mail is tried nine times in a little more than a day, each time later', () => {
  const results = Array.from({ length: 9 }, (_, attempts) =>
    mailAfter(attempts, { kind: 'postponed', reason: 'x' }, now),
  );
  expect(results.map(({ state }) => state)).toEqual([...Array(8).fill('waiting'), 'failed']);
  expect(mailPauses.reduce((all, pause) => all + pause, 0) / 3_600_000).toBeCloseTo(27.35, 2);
  expect(mailPauses.toSorted((a, b) => a - b)).toEqual(mailPauses);
});

test('a mail that is postponed is counted, and due after the pause', () => {
  const [first, last] = [0, 7].map((attempts) =>
    mailAfter(attempts, { kind: 'postponed', reason: 'x' }, now),
  );
  expect(first).toEqual({ state: 'waiting', dueAt: inMinutes(1), isCounted: true });
  expect(last).toEqual({ state: 'waiting', dueAt: inMinutes(720), isCounted: true });
  expect(mailAfter(0, { kind: 'sent' }, now)).toEqual({ state: 'sent' });
});

test('a refused mail is given up, and one that this process has ended is due at once', () => {
  expect(mailAfter(0, { kind: 'refused', reason: 'x' }, now)).toEqual({ state: 'failed' });
  expect(mailAfter(5, { kind: 'stopped' }, now)).toEqual({ state: 'waiting', dueAt: now, isCounted: false });
});
