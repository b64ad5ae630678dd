import { type AssetSymbol, assets, type Chain, nativeAsset } from '@quittance/shared/assets';
import { type Rate, type Units, units } from '@quittance/shared/money';

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

/** Money of one asset on one deposit address that no payout needs now. */
export type SweepOffer = {
  asset: AssetSymbol;
  /** What arrives at the hot wallet. */
  net: Units;
  /** The highest fee of the sweep, in the chain's native asset. */
  fee: Units;
};

/** The fee of a sweep may be at most half a percent of what it brings. */
const WORTH_TIMES_COST = 200n;
/**
 * The fees of a round of sweeps are at most a quarter of the hot wallet's liquidity, because payouts come first. This
 * also limits sweeps of native money. Their fees are deducted from deposits that merchants were credited in full, so the
 * operator's own money must cover them.
 */
const SHARE_OF_FREE = 4n;

/**
 * The economical offers at these rates, the most valuable first and at most `limit`. An asset without a rate is not
 * swept.
 */
export function economicalSweeps<O extends SweepOffer>(
  offers: readonly O[],
  native: AssetSymbol,
  rates: ReadonlyMap<AssetSymbol, Rate>,
  freeNative: bigint,
  limit: number,
): O[] {
  const worthOf = ({ asset, net }: O): bigint => dollarsOf(net, asset, rates.get(asset)) ?? 0n;
  const valuable = offers
    .filter((offer) => {
      const cost = dollarsOf(offer.fee, native, rates.get(native));
      return offer.net > 0n && cost !== undefined && cost * WORTH_TIMES_COST <= worthOf(offer);
    })
    .sort((a, b) => (worthOf(a) > worthOf(b) ? -1 : worthOf(a) < worthOf(b) ? 1 : 0));
  const chosen: O[] = [];
  let left = freeNative / SHARE_OF_FREE;
  for (const offer of valuable) {
    if (chosen.length === limit) break;
    if (offer.fee > left) continue;
    left -= offer.fee;
    chosen.push(offer);
  }
  return chosen;
}

/** More digits than any asset or rate has, so that assets of different decimals are compared exactly. */
const DIGITS = 36;

/** A value in dollars as a large integer, to compare it with another one. */
function dollarsOf(amount: Units, asset: AssetSymbol, rate: Rate | undefined): bigint | undefined {
  return rate && amount * rate * 10n ** BigInt(DIGITS - assets[asset].decimals);
}
