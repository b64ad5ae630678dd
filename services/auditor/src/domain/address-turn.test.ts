import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ADDRESSES_AT_ONCE, isLookDue, nextTurn, tomorrow } from './address-turn.ts';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * HOUR_MS);

test('every address is looked at in each round, once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(10_000_000), { maxLength: 3 * ADDRESSES_AT_ONCE, size: 'max' }),
      (given) => {
        const addresses = given.map((n) => String(n).padStart(8, '0')).toSorted();
        const seen: string[] = [];
        let after = '';
        do {
          const looked = addresses.filter((one) => one > after).slice(0, ADDRESSES_AT_ONCE);
          seen.push(...looked);
          after = nextTurn(looked);
        } while (after !== '');
        expect(seen).toEqual(addresses);
      },
    ),
  );
});

test('a turn with fewer addresses than there can be ends the round', () => {
  const addresses = Array.from({ length: ADDRESSES_AT_ONCE }, (_, n) => `a${n}`);
  expect(nextTurn(addresses)).toBe(addresses.at(-1));
  expect([nextTurn(addresses.slice(1)), nextTurn([])]).toEqual(['', '']);
});

test.each<[string, Date | undefined, boolean]>([
  ['never', undefined, true],
  ['in an hour', at(49), false],
  ['now', at(48), true],
  ['in a day', at(72), false],
  ['in more than a day, by a clock that was set back', new Date(at(72).getTime() + 1), true],
  ['in two days, by a clock that was set back', at(96), true],
])('what can only be read as a whole is due when its next time is %s', (_what, next, isDue) => {
  expect(isLookDue(next, at(48))).toBe(isDue);
});

test('after a whole look the next one is a day later', () => {
  expect(tomorrow(at(48))).toEqual(at(72));
});
