import { expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Deposit } from './deposit.ts';
import { AWAITED_AFTER_DROP_MS, type MempoolPayment, shownOf } from './mempool-payment.ts';

type Given = { asset: AssetSymbol; amount: bigint; firstSeenAt: Date };
const payments = (count: number, of: (i: number) => { amount: number; at: number; asset?: AssetSymbol }) =>
  Array.from({ length: count }, (_, i): Given => {
    const { amount, at, asset = 'ETH' } = of(i);
    return { asset, amount: BigInt(amount), firstSeenAt: new Date(at) };
  });
const shown = (deposits: Given[], mempoolPayments: Given[] = []) => {
  const given = { deposits: deposits as Deposit[], mempoolPayments: mempoolPayments as MempoolPayment[] };
  const found = shownOf(given, 'ETH');
  return {
    deposits: found.deposits.map((one) => given.deposits.indexOf(one)),
    mempoolPayments: found.mempoolPayments.map((one) => given.mempoolPayments.indexOf(one)),
  };
};
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

it('shows the 50 largest payments and the newest of the others, 100 in all, in the given order', () => {
  const deposits = payments(160, (i) => {
    // Many of another asset are larger, and count as no large payments.
    if (i < 20) return { amount: 9_000, at: i, asset: 'USDC_ERC20' };
    return { amount: i >= 30 && i < 80 ? 1_000 + i : i, at: i };
  });
  const older = payments(20, (i) => ({ amount: 1, at: -i }));
  const newer = payments(10, (i) => ({ amount: 1, at: 200 - i }));
  expect(shown(deposits, [...older, ...newer])).toEqual({
    deposits: [...range(30, 80), ...range(120, 160)],
    mempoolPayments: range(20, 30),
  });
});

it('shows the first and the last of equal payments', () => {
  const equal = payments(101, () => ({ amount: 5, at: 0 }));
  expect(shown(equal).deposits).toEqual([...range(0, 50), ...range(51, 101)]);
});

it('holds an invoice open for an hour after its payment was dropped', () => {
  expect(AWAITED_AFTER_DROP_MS).toBe(3_600_000);
});
