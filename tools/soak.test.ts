import { describe, expect, test } from '@jest/globals';
import { trends } from '../bench/soak/flatness.ts';
import type { Sample } from '../bench/soak/samples.ts';

const soak = (megabytes: readonly number[]): Sample[] =>
  megabytes.map((ledger) => ({ megabytes: { ledger }, descriptors: {}, lagMs: {}, bytes: {} }));

describe('a soak compares its second quarter with its last', () => {
  test.each([
    ['what settles after the start is flat', [90, 140, 150, 151, 150, 152, 151, 150], 150, 150, true],
    ['what grows all the time is not', [100, 120, 140, 160, 180, 200, 220, 240], 140, 220, false],
    ['a single high sample says nothing', [...Array(11).fill(100), 900], 100, 100, true],
  ])('%s', (_what, megabytes, before, after, isFlat) => {
    expect(trends('megabytes', soak(megabytes))).toEqual([{ of: 'ledger', before, after, isFlat }]);
  });

  test('a process that was there at one of the times only is left out', () => {
    const samples = soak([100, 100, 100, 100]);
    samples[3] = { ...(samples[3] as Sample), megabytes: { ledger: 100, signer: 500 } };
    expect(trends('megabytes', samples).map(({ of }) => of)).toEqual(['ledger']);
  });

  test('three samples are too few', () =>
    expect(() => trends('megabytes', soak([1, 2, 3]))).toThrow(RangeError));
});
