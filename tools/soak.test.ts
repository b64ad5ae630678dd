import { describe, expect, test } from '@jest/globals';
import { trends } from '../bench/soak/flatness.ts';
import type { Sample } from '../bench/soak/samples.ts';

const soak = (megabytes: readonly number[]): Sample[] =>
  megabytes.map((ledger) => ({ megabytes: { ledger }, descriptors: {}, lagMs: {}, bytes: {} }));

describe('a soak compares its second quarter with its last', () => {
  test('what settles after the start is flat', () =>
    expect(trends('megabytes', soak([90, 140, 150, 151, 150, 152, 151, 150]))).toEqual([
      { of: 'ledger', before: 150, after: 150, isFlat: true },
    ]));

  test('what grows all the time is not', () =>
    expect(trends('megabytes', soak([100, 120, 140, 160, 180, 200, 220, 240]))).toEqual([
      { of: 'ledger', before: 140, after: 220, isFlat: false },
    ]));

  test('a single high sample says nothing', () =>
    expect(
      trends('megabytes', soak([100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 900]))[0]?.isFlat,
    ).toBe(true));

  test('a process that was there at one of the times only is left out', () => {
    const samples = soak([100, 100, 100, 100]);
    samples[3] = { ...(samples[3] as Sample), megabytes: { ledger: 100, signer: 500 } };
    expect(trends('megabytes', samples).map(({ of }) => of)).toEqual(['ledger']);
  });

  test('three samples are too few', () =>
    expect(() => trends('megabytes', soak([1, 2, 3]))).toThrow(RangeError));
});
