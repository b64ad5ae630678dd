import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { afterTurn, isLookDue, nextAddresses } from './address-turn.ts';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * HOUR_MS);

test('every address is looked at in each round, and a round takes at most a thousand comparisons', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(10_000_000), { maxLength: 300 }), (given) => {
      const addresses = given.map((n) => String(n).padStart(8, '0')).toSorted();
      const seen: string[] = [];
      let round = { after: '', beganAt: at(0), endedRoundBeganAt: null as Date | null };
      let comparisons = 0;
      while (round.endedRoundBeganAt === null) {
        const scope = nextAddresses(round.after, addresses.length);
        const looked = addresses.filter((one) => one > round.after).slice(0, scope.limit);
        seen.push(...looked);
        comparisons += 1;
        round = afterTurn(round, looked, scope.limit, at(comparisons));
      }
      expect(seen).toEqual(addresses);
      expect(comparisons).toBeLessThanOrEqual(1_001);
      expect(round).toEqual({ after: '', beganAt: at(comparisons), endedRoundBeganAt: at(0) });
    }),
  );
});

test('a million addresses are looked at within a day of comparisons each minute', () => {
  expect(nextAddresses('', 1_000_000)).toEqual({ after: '', limit: 1_000 });
  expect(nextAddresses('a', 0)).toEqual({ after: 'a', limit: 100 });
});

test.each<[string, Date | undefined, boolean]>([
  ['never', undefined, true],
  ['an hour ago', at(47), false],
  ['a day ago', at(24), true],
  ['in the future, by a clock that was set back', at(49), true],
])('what can only be read as a whole is due when that was %s', (_what, last, isDue) => {
  expect(isLookDue(last, at(48))).toBe(isDue);
});
