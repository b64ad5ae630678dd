import { type AssetSymbol, type Chain, nativeAsset } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';

/** Transactions that were signed and whose end is open, summed up by what they have in common. */
export type OpenSum = {
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  /** The hot wallet sends it, and so pays its fee; otherwise the deposit address it empties does. */
  paidByHot: boolean;
  /** It is in a block, if not a deep one: the hot wallet's balance has felt it. */
  inBlock: boolean;
  /** A sweep of money that is no longer there: it may never be mined. */
  doubtful: boolean;
  amount: Units;
  maxCost: Units;
};

/** What the hot wallet can still promise, and what is on its way to it. May be below zero. */
export type Liquidity = { free: Map<AssetSymbol, Units>; incoming: Map<AssetSymbol, Units> };

/**
 * What is free at the hot wallet: its balances at the newest block, less what signed transactions will still
 * take from them, less what sweeps have brought that a reorganisation could take away again.
 */
export function liquidityOf(
  chain: Chain,
  balances: ReadonlyMap<AssetSymbol, Units>,
  open: readonly OpenSum[],
): Liquidity {
  const free = new Map(balances);
  const incoming = new Map<AssetSymbol, Units>();
  const native = nativeAsset[chain];
  for (const { purpose, asset, paidByHot, inBlock, doubtful, amount, maxCost } of open) {
    if (paidByHot && !inBlock) add(free, native, -maxCost);
    if (purpose === 'payout' && !inBlock) add(free, asset, -amount);
    if (purpose === 'sweep') {
      if (inBlock) add(free, asset, -amount);
      if (!doubtful) add(incoming, asset, amount);
    }
  }
  return { free, incoming };
}

export function add(amounts: Map<AssetSymbol, Units>, asset: AssetSymbol, amount: bigint): void {
  amounts.set(asset, units((amounts.get(asset) ?? 0n) + amount));
}

export const amountOf = (amounts: ReadonlyMap<AssetSymbol, Units>, asset: AssetSymbol): Units =>
  amounts.get(asset) ?? units(0n);
