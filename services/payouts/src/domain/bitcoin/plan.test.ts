import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { assertProperty } from '@quittance/testkit/assert-property';
import fc from 'fast-check';
import { mostThatFit, needsMerging, paidByChange, planBatch, type QueuedForBatch } from './plan.ts';

const now = new Date('2026-01-01T12:00:00Z');
const long = new Date(now.getTime() - 2_000);
const queue = (...amounts: number[]): QueuedForBatch[] =>
  amounts.map((amount) => ({ amount: units(BigInt(amount)), createdAt: long }));
const amounts = (some: QueuedForBatch[]) => some.map(({ amount }) => amount);
const none = units(0n);
const plan = (payouts: QueuedForBatch[], free: number, incoming = 0) => {
  const { pay, waiting, short } = planBatch(
    payouts,
    { free: units(BigInt(free)), incoming: units(BigInt(incoming)), beyond: none },
    now,
  );
  return { pay: amounts(pay), waiting: amounts(waiting), short };
};

describe('the payouts that the next transaction pays', () => {
  test('are all that the UTXOs cover', () => {
    expect(plan(queue(5, 7, 8), 20)).toEqual({ pay: [5n, 7n, 8n], waiting: [], short: undefined });
  });

  test('do not include money that an earlier payout waits for', () => {
    expect(plan(queue(15, 4), 10, 10)).toEqual({ pay: [], waiting: [15n, 4n], short: undefined });
    expect(plan(queue(4, 15, 1), 10, 10)).toEqual({ pay: [4n], waiting: [15n, 1n], short: undefined });
  });

  test('skip a payout that all UTXOs do not cover', () => {
    expect(plan(queue(30, 4, 50), 10, 10)).toEqual({
      pay: [4n],
      waiting: [],
      short: { has: 20n, needs: 30n, payouts: 2 },
    });
  });

  test('wait for a moment that starts with the first payout', () => {
    const young = { amount: units(5n), createdAt: new Date(now.getTime() - 1_999) };
    const available = { free: units(100n), incoming: none, beyond: none };
    expect(planBatch([young], available, now)).toMatchObject({ pay: [], waiting: [young] });
    const [old] = queue(5);
    expect(planBatch([old as QueuedForBatch, young], available, now).pay).toHaveLength(2);
    const next = { amount: units(150n), createdAt: now };
    const more = { ...available, incoming: units(100n) };
    expect(planBatch([young, next], more, now)).toMatchObject({ pay: [], waiting: [young, next] });
    const full = Array.from({ length: 100 }, () => ({ ...young, amount: units(1n) }));
    expect(planBatch(full, available, now).pay).toHaveLength(100);
  });

  test('are 100 at most, and the money of further ones is not given away', () => {
    const ones = Array.from({ length: 102 }, () => 1);
    expect(plan(queue(...ones, 3, 2, 1), 105)).toMatchObject({
      pay: ones.slice(0, 100).map(BigInt),
      waiting: [1n, 1n, 3n],
      short: { has: 0n, needs: 2n, payouts: 2 },
    });
  });

  test('lose no payout, and never exceed the UTXOs', async () => {
    const some = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 200, size: 'max' });
    await assertProperty(
      fc.property(some, fc.nat(500), fc.nat(500), (wanted, free, incoming) => {
        const { pay, waiting, short } = plan(queue(...wanted), free, incoming);
        expect(pay.length + waiting.length + (short?.payouts ?? 0)).toBe(wanted.length);
        expect(pay.length).toBeLessThanOrEqual(100);
        const paid = pay.reduce((sum, amount) => sum + amount, 0n);
        expect(paid).toBeLessThanOrEqual(BigInt(free));
        const promised = waiting.reduce((sum, amount) => sum + amount, paid);
        expect(promised).toBeLessThanOrEqual(BigInt(free + incoming));
      }),
    );
  });
});

test.each([
  ['one that needs more UTXOs than a transaction takes', [25], 10, 5, 20, true],
  ['one that change will pay', [15], 10, 5, 20, false],
  ['one that nothing pays', [50], 10, 5, 20, false],
  ['one that is paid now', [10], 10, 5, 20, false],
  ['one behind another that is paid now', [10, 25], 10, 5, 20, false],
  ['one that needs a single UTXO more', [16], 10, 5, 1, true],
])(
  'UTXOs are merged for %s: %j of %i and %i, and %i beyond: %s',
  (_what, wanted, free, incoming, beyond, merged) => {
    const available = {
      free: units(BigInt(free)),
      incoming: units(BigInt(incoming)),
      beyond: units(BigInt(beyond)),
    };
    expect(needsMerging(planBatch(queue(...wanted), available, now), available)).toBe(merged);
  },
);

test.each([
  ['brings the fee', 12, 10, 5, true],
  ['brings it exactly, with one unit', 11, 10, 1, true],
  ['is too little', 16, 10, 5, false],
  ['is none', 10, 10, 0, false],
])('change that %s: %i of %i and %i', (_what, needs, free, incoming, isPaid) => {
  const available = { free: units(BigInt(free)), incoming: units(BigInt(incoming)), beyond: units(7n) };
  expect(paidByChange(units(BigInt(needs)), available)).toBe(isPaid);
});

test('the highest number that fits is found with few attempts', async () => {
  await assertProperty(
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
    { examples: [[3, 0]] },
  );
});
