import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Mix, NUMBERS, payoutIdOf, payoutNumberOf } from './payout-id.ts';

const number = fc.bigInt({ min: 0n, max: NUMBERS - 1n });
/** Any function at all: a network of Feistel's is a bijection whatever it mixes with. */
const mix: fc.Arbitrary<Mix> = fc
  .string()
  .map(
    (seed) => (round, half) =>
      BigInt(createHash('sha256').update(`${seed} ${round} ${half}`).digest().readUInt32BE()),
  );

describe('payout ids', () => {
  it('stand for one number each: the way back leads to where it came from', () => {
    fc.assert(
      fc.property(mix, number, (keyed, given) => payoutNumberOf(payoutIdOf(given, keyed), keyed) === given),
    );
  });

  it('reach every id: there is a number for each', () => {
    fc.assert(
      fc.property(
        mix,
        fc.bigInt({ min: 1n, max: NUMBERS }),
        (keyed, id) => payoutIdOf(payoutNumberOf(id, keyed), keyed) === id,
      ),
    );
  });

  it('are at least 1 and exact as JSON numbers', () => {
    fc.assert(
      fc.property(mix, number, (keyed, given) => {
        const id = payoutIdOf(given, keyed);
        return id >= 1n && id <= BigInt(Number.MAX_SAFE_INTEGER);
      }),
    );
  });

  it('differ for the first ten thousand payouts, and do not tell their order', () => {
    const keyed: Mix = (round, half) =>
      BigInt(createHash('sha256').update(`key ${round} ${half}`).digest().readUInt32BE());
    const ids = Array.from({ length: 10_000 }, (_, i) => payoutIdOf(BigInt(i), keyed));
    expect(new Set(ids).size).toBe(10_000);
    const rising = ids.filter((id, i) => i > 0 && id > (ids[i - 1] ?? 0n)).length;
    expect(rising).toBeGreaterThan(4_700);
    expect(rising).toBeLessThan(5_300);
  });

  it('are not given out for numbers out of range', () => {
    expect(() => payoutIdOf(NUMBERS, () => 0n)).toThrow('below 2^52');
    expect(() => payoutNumberOf(0n, () => 0n)).toThrow('between 1');
  });
});
