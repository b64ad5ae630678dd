import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import fc from 'fast-check';
import {
  BATCH_MAX,
  GATHER_MS,
  mostThatFit,
  needsMerging,
  paidByChange,
  planBatch,
  type Queued,
} from './plan.ts';

const now = new Date('2026-01-01T12:00:00Z');
const long = new Date(now.getTime() - GATHER_MS);
const queue = (...amounts: number[]): Queued[] =>
  amounts.map((amount) => ({ amount: units(BigInt(amount)), createdAt: long }));
const amounts = (some: Queued[]) => some.map(({ amount }) => amount);
const none = units(0n);
const plan = (payouts: Queued[], free: number, coming = 0) => {
  const { pay, waiting, short } = planBatch(
    payouts,
    { free: units(BigInt(free)), coming: units(BigInt(coming)), beyond: none },
    now,
  );
  return { pay: amounts(pay), waiting: amounts(waiting), short };
};

describe('who is paid by the next transaction', () => {
  test('all that the coins cover', () => {
    expect(plan(queue(5, 7, 8), 20)).toEqual({ pay: [5n, 7n, 8n], waiting: [], short: undefined });
  });

  test('what an earlier one waits for is not spent on a later one', () => {
    expect(plan(queue(15, 4), 10, 10)).toEqual({ pay: [], waiting: [15n, 4n], short: undefined });
    expect(plan(queue(4, 15, 1), 10, 10)).toEqual({ pay: [4n], waiting: [15n, 1n], short: undefined });
  });

  test('one that everything together does not cover is passed over', () => {
    expect(plan(queue(30, 4, 50), 10, 10)).toEqual({
      pay: [4n],
      waiting: [],
      short: { has: 20n, needs: 30n, payouts: 2 },
    });
  });

  test('the first one waits a moment for others, not for the last one’s moment', () => {
    const young = { amount: units(5n), createdAt: new Date(now.getTime() - GATHER_MS + 1) };
    const means = { free: units(100n), coming: none, beyond: none };
    expect(planBatch([young], means, now)).toMatchObject({ pay: [], waiting: [young] });
    const [old] = queue(5);
    expect(planBatch([old as Queued, young], means, now).pay).toHaveLength(2);
    const full = Array.from({ length: BATCH_MAX }, () => ({ ...young, amount: units(1n) }));
    expect(planBatch(full, means, now).pay).toHaveLength(BATCH_MAX);
  });

  test('nobody is lost, and never more is paid than there is', () => {
    const some = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 2 * BATCH_MAX });
    fc.assert(
      fc.property(some, fc.nat(500), fc.nat(500), (wanted, free, coming) => {
        const { pay, waiting, short } = plan(queue(...wanted), free, coming);
        expect(pay.length + waiting.length + (short?.payouts ?? 0)).toBe(wanted.length);
        expect(pay.length).toBeLessThanOrEqual(BATCH_MAX);
        const paid = pay.reduce((sum, amount) => sum + amount, 0n);
        expect(paid).toBeLessThanOrEqual(BigInt(free));
        const promised = waiting.reduce((sum, amount) => sum + amount, paid);
        expect(promised).toBeLessThanOrEqual(BigInt(free + coming));
      }),
    );
  });
});

test.each([
  ['one that needs more coins than a transaction takes', [25], 10, 5, 20, true],
  ['one that change will pay', [15], 10, 5, 20, false],
  ['one that nothing pays', [50], 10, 5, 20, false],
  ['one that is paid now', [10], 10, 5, 20, false],
  ['one behind another that is paid now', [10, 12], 10, 5, 20, false],
])(
  'coins are merged for %s: %j of %i and %i, and %i beyond: %s',
  (_what, wanted, free, coming, beyond, merged) => {
    const means = { free: units(BigInt(free)), coming: units(BigInt(coming)), beyond: units(BigInt(beyond)) };
    expect(needsMerging(planBatch(queue(...wanted), means, now), means)).toBe(merged);
  },
);

test.each([
  ['brings the fee', 12, 10, 5, true],
  ['is too little', 16, 10, 5, false],
  ['is none', 10, 10, 0, false],
])('change that %s: %i of %i and %i', (_what, needs, free, coming, isPaid) => {
  const means = { free: units(BigInt(free)), coming: units(BigInt(coming)), beyond: units(7n) };
  expect(paidByChange(units(BigInt(needs)), means)).toBe(isPaid);
});

test('the most that fit are found with few questions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(250), (count, limit) => {
      let asked = 0;
      const found = mostThatFit(count, (wanted) => {
        asked += 1;
        return wanted <= limit ? `${wanted}` : undefined;
      });
      const most = Math.min(count, limit);
      expect(found).toEqual(most === 0 ? undefined : { count: most, fit: `${most}` });
      expect(asked).toBeLessThanOrEqual(10);
    }),
  );
});
