import { type AssetSymbol, type Chain, nativeAsset } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';

/** The sums of open transactions, by what they have in common. */
export type OpenSum = {
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  /** The hot wallet pays the fee. Otherwise the deposit address pays it. */
  paidByHot: boolean;
  /** A block includes it, so the balance of the hot wallet does too. */
  inBlock: boolean;
  /** A sweep of a deposit that was reversed: it may never be mined. */
  hasReversedDeposit: boolean;
  amount: Units;
  maxCost: Units;
};

/** What the hot wallet can still pay, and what sweeps will bring. Both may be below zero. */
export type Liquidity = { free: Map<AssetSymbol, Units>; incoming: Map<AssetSymbol, Units> };

/**
 * The liquidity of the hot wallet: its balances at the newest block, less what open transactions will still take, less
 * what sweeps have brought in blocks that can still be dropped.
 */
export function liquidityOf(
  chain: Chain,
  balances: ReadonlyMap<AssetSymbol, Units>,
  open: readonly OpenSum[],
): Liquidity {
  const free = new Map(balances);
  const incoming = new Map<AssetSymbol, Units>();
  const native = nativeAsset[chain];
  for (const { purpose, asset, paidByHot, inBlock, hasReversedDeposit, amount, maxCost } of open) {
    if (paidByHot && !inBlock) add(free, native, -maxCost);
    if (purpose === 'payout' && !inBlock) add(free, asset, -amount);
    if (purpose === 'sweep') {
      if (inBlock) add(free, asset, -amount);
      if (!hasReversedDeposit) add(incoming, asset, amount);
    }
  }
  return { free, incoming };
}

export function add(amounts: Map<AssetSymbol, Units>, asset: AssetSymbol, amount: bigint): void {
  amounts.set(asset, units((amounts.get(asset) ?? 0n) + amount));
}

export const amountOf = (amounts: ReadonlyMap<AssetSymbol, Units>, asset: AssetSymbol): Units =>
  amounts.get(asset) ?? units(0n);
