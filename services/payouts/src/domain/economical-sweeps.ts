import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Rate, Units } from '@quittance/shared/money';

/** Money of one asset on one deposit address that no payout needs now. */
export type SweepOffer = {
  asset: AssetSymbol;
  /** What arrives at the hot wallet. */
  net: Units;
  /** The most the network takes for it, in the chain's native asset. */
  cost: Units;
};

/** The network may take one part in so many of what is brought: half a percent. */
const WORTH_TIMES_COST = 200n;
/**
 * A round of sweeps costs at most one part in so many of what is free at the hot wallet: that is for payouts first. It
 * also bounds sweeps of native money, which pay for themselves out of what merchants were credited in full: without
 * money of our own to make up for it, they wait until they are needed.
 */
const SHARE_OF_FREE = 4n;

/**
 * The offers that are economical at these rates, the most valuable first and at most `limit`. What has no rate
 * is left where it is: it can be brought when it is needed.
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
      const cost = dollarsOf(offer.cost, native, rates.get(native));
      return offer.net > 0n && cost !== undefined && cost * WORTH_TIMES_COST <= worthOf(offer);
    })
    .sort((a, b) => (worthOf(a) > worthOf(b) ? -1 : worthOf(a) < worthOf(b) ? 1 : 0));
  const chosen: O[] = [];
  let left = freeNative / SHARE_OF_FREE;
  for (const offer of valuable) {
    if (chosen.length === limit) break;
    if (offer.cost > left) continue;
    left -= offer.cost;
    chosen.push(offer);
  }
  return chosen;
}

/** More digits than any asset or rate has, so that nothing is lost between assets of different decimals. */
const DIGITS = 36;

/** Dollars as a large integer, to compare with others of its kind. */
function dollarsOf(amount: Units, asset: AssetSymbol, rate: Rate | undefined): bigint | undefined {
  return rate && amount * rate * 10n ** BigInt(DIGITS - assets[asset].decimals);
}
