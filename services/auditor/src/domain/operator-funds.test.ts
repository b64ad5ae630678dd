import { expect, test } from '@jest/globals';
import { foundFunds, type MeasuredReserve } from './operator-funds.ts';

const sides = (other: Partial<MeasuredReserve> = {}) =>
  new Map([['ETH' as const, { beyond: 30n, funds: undefined, isStill: true, ...other }]]);

test.each<[string, Partial<MeasuredReserve>, Partial<MeasuredReserve>, unknown[]]>([
  ['two alike are the first measurement', {}, {}, [{ amount: 30n, cause: 'measured' }]],
  [
    'less than nothing is measured too: it was earned, and taken',
    { beyond: -3n },
    { beyond: -3n },
    [{ amount: -3n }],
  ],
  ['two that differ are none', { beyond: 29n }, {}, []],
  ['a transaction was on its way at the first', { isStill: false }, {}, []],
  ['a transaction was on its way at the second', {}, { isStill: false }, []],
  ['more than was known has arrived', { funds: 20n }, { funds: 20n }, [{ amount: 10n, cause: 'arrived' }]],
  ['a withdrawal was noted between them', { funds: 30n }, { funds: 20n }, []],
  ['as much as was known is nothing new', { funds: 30n }, { funds: 30n }, []],
  ['less than was known is no measurement', { funds: 31n }, { funds: 31n }, []],
])('when %s', (_what, before, now, noted) => {
  expect(foundFunds(sides(before), sides(now))).toMatchObject(noted);
  expect(foundFunds(sides(before), sides(now))).toHaveLength(noted.length);
});

test('one comparison alone measures nothing', () => {
  expect(foundFunds(new Map(), sides())).toEqual([]);
});
