import { expect, test } from '@jest/globals';
import {
  kindsWithoutBaseline,
  readRecoveryBaseline,
  slowRecoveries,
} from '../test/faults/recovery-baseline.ts';
import { drawnLine, type FaultReport } from '../test/faults/table.ts';

const report = (fault: string, seconds: number | undefined, group = 'redis'): FaultReport => ({
  group,
  fault,
  fired: 1,
  violations: 0,
  slowestRecoveryMs: seconds === undefined ? undefined : seconds * 1_000,
});
const baseline = {
  'redis: Redis killed': [2, 9, 1],
  'crash matrix: payouts killed': [4],
  'power: N cuts': [0.1],
};

test('a recovery of more than three times its median is named', () => {
  expect(slowRecoveries([report('Redis killed', 6.1)], baseline, 1)).toEqual([
    'redis: Redis killed: recovered after 6.1 s, usual are 2 s, the limit is 6.0 s',
  ]);
});

test('of two samples the median lies between them', () => {
  const usual = { 'redis: Redis killed': [9, 2] };
  expect(slowRecoveries([report('Redis killed', 16.4)], usual, 1)).toEqual([]);
  expect(slowRecoveries([report('Redis killed', 16.6)], usual, 1)).toHaveLength(1);
});

test('a busy machine is given its patience', () => {
  expect(slowRecoveries([report('Redis killed', 6.1)], baseline, 5)).toEqual([]);
});

test('the rows of the crash matrix share the baseline of their service', () => {
  const rows = [report('payouts killed at payouts.held', 12.1, 'crash matrix')];
  expect(slowRecoveries(rows, baseline, 1)).toEqual([expect.stringContaining('12.1 s')]);
});

test('numbers in the name of a fault do not matter, and a median below a second counts as a second', () => {
  expect(slowRecoveries([report('17 cuts', 2.9, 'power')], baseline, 1)).toEqual([]);
  expect(slowRecoveries([report('18 cuts', 3.1, 'power')], baseline, 1)).toHaveLength(1);
});

test('a fault without a recovery or without a baseline is not compared, and one without a baseline is named', () => {
  const reports = [report('Redis killed', undefined), report('Redis killed', 2), report('new', 900)];
  expect(slowRecoveries(reports, baseline, 1)).toEqual([]);
  expect(kindsWithoutBaseline(reports, baseline)).toEqual(['redis: new']);
});

test('what the suites have drawn is added up in one line', () => {
  expect(drawnLine([])).toBe('');
  expect(
    drawnLine([
      { drawn: 30, of: 90 },
      { drawn: 11, of: 23 },
    ]),
  ).toBe('drawn 41 of 113 kinds\n');
});

test('each committed baseline has samples', () => {
  for (const [kind, samples] of Object.entries(readRecoveryBaseline()))
    expect([kind, samples.length > 0 && samples.every((seconds) => seconds >= 0)]).toEqual([kind, true]);
});
