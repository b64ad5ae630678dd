import { describe, expect, test } from '@jest/globals';
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { childKey, childKeyRange, RANGE_MAX } from './child-keys.ts';

const neutered = (seed: Uint8Array): HDKey =>
  HDKey.fromExtendedKey(HDKey.fromMasterSeed(seed).publicExtendedKey);

describe('a range of child keys', () => {
  test('is what the library derives one by one, over the first thousand', () => {
    const parent = neutered(new Uint8Array(32).fill(7));
    const one = Array.from({ length: RANGE_MAX }, (_, index) => childKey(parent, index));
    expect(childKeyRange(parent, 0, RANGE_MAX)).toEqual(one);
  });

  test('is what the library derives one by one, for any parent and any place', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.integer({ min: 0, max: 2 ** 31 - 4 }),
        fc.integer({ min: 0, max: 4 }),
        (seed, from, count) => {
          const parent = neutered(seed);
          const one = Array.from({ length: count }, (_, i) => childKey(parent, from + i));
          expect(childKeyRange(parent, from, count)).toEqual(one);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('has limits', () => {
    const parent = neutered(new Uint8Array(32).fill(7));
    expect(() => childKeyRange(parent, 0, RANGE_MAX + 1)).toThrow('invariant');
    expect(() => childKeyRange(parent, -1, 1)).toThrow('invariant');
    expect(() => childKeyRange(parent, 2 ** 31 - 1, 2)).toThrow('invariant');
    expect(childKeyRange(parent, 2 ** 31 - 1, 1)).toEqual([childKey(parent, 2 ** 31 - 1)]);
  });
});
