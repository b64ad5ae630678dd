import { describe, expect, it } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { highestPriorityFee, priorityFeeOf } from './next-step.ts';
import { nativeToSweep, takeFrom, whoPays } from './sweeping.ts';

const rent = units(890_880n);

describe('native money of a deposit address', () => {
  it.each([
    [1_000_000n, 1_000_000n, 1_000_000n],
    // A later payment whose event has not arrived stays.
    [3_000_000n, 1_000_000n, 1_000_000n],
    [1_890_880n, 1_000_000n, 1_000_000n],
    // The rest would be less than the rent.
    [1_890_879n, 1_000_000n, 1_890_879n],
    [1_000_001n, 1_000_000n, 1_000_001n],
  ])('of %p, %p settled: %p is swept', (there, settled, swept) => {
    expect(nativeToSweep(units(there), units(settled), rent)).toBe(swept);
  });

  it.each([
    [10_010n, 900_000n, 'hot'],
    [10_009n, 900_000n, 'deposit'],
    [-5n, 895_880n, 'deposit'],
    [0n, 895_879n, undefined],
  ] as const)('with %p to spare and %p there, %p pays', (free, there, payer) => {
    expect(whoPays(free, units(there), rent, { hot: units(10_010n), deposit: units(5_000n) })).toBe(payer);
  });
});

describe('tokens of a deposit address', () => {
  const accounts = [
    { address: 'a', amount: units(70n) },
    { address: 'b', amount: units(30n) },
  ];

  it.each([
    [100n, [70n, 30n]],
    [71n, [70n, 1n]],
    [70n, [70n]],
    [1n, [1n]],
  ])('%p out of the accounts are %p', (amount, taken) => {
    expect(takeFrom(accounts, units(amount))?.map((one) => one.amount)).toEqual(taken);
  });

  it('are not swept when there are fewer', () => {
    expect(takeFrom(accounts, units(101n))).toBeUndefined();
  });
});

describe('the priority fee of a payout', () => {
  it('differs between payouts, so that equal payouts have different bytes', () => {
    const fees = Array.from({ length: 900 }, (_, i) => priorityFeeOf(10_000n, String(7_000 + i), 0));
    expect(new Set(fees).size).toBe(900);
    for (const price of fees) expect(price < highestPriorityFee(10_000n)).toBe(true);
  });

  it('is up to 996 more than the usual one', () => {
    expect(['996', '997', '998'].map((seq) => priorityFeeOf(10_000n, seq, 0))).toEqual([
      10_996n,
      10_000n,
      10_001n,
    ]);
  });

  it('doubles with each attempt up to a limit', () => {
    expect([0, 1, 2, 5, 50].map((attempts) => priorityFeeOf(10_000n, '0', attempts))).toEqual([
      10_000n,
      20_000n,
      40_000n,
      320_000n,
      320_000n,
    ]);
  });
});
