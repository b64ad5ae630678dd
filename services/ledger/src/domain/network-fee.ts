import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { convertUnits, percentUp, type Rate, roundUpToDigits, type Units } from '@quittance/shared/money';

/** An estimate or a rate older than this says nothing of what a payout costs now. */
export const COST_AGE_MAX_MS = 10 * 60_000;
/** A merchant reads the fee and adds it up: more digits would be noise. */
const SIGNIFICANT_DIGITS = 2;
/** The fee rises at once, so that it always covers the cost, and falls only by this much, so that it keeps still. */
const FALLS_BY_PERCENT = 20n;

/** What an operator allows the network fee of an asset to be. Amounts in its smallest unit. */
export type FeePolicy = {
  symbol: AssetSymbol;
  /** The fee now. */
  networkFee: Units;
  /** Of the estimated cost. */
  marginPercent: bigint;
  floor: Units;
  cap: Units;
  /** The last rate, and when it was of; null while there is none. */
  rate: { usd: Rate; asOf: Date } | null;
};

/** What a usual payout of an asset costs now, in smallest units of its chain's native asset. */
export type CostOf = (asset: AssetSymbol) => Units | undefined;

/** The network fees that are others from now on. Where the cost or a rate is not known the fee stays. */
export function changedFees(
  policies: readonly FeePolicy[],
  costOf: CostOf,
  now: Date,
): { symbol: AssetSymbol; networkFee: Units }[] {
  const rates = new Map(policies.map(({ symbol, rate }) => [symbol, freshRate(rate, now)]));
  return policies.flatMap((policy) => {
    const { symbol } = policy;
    const nativeCost = costOf(symbol);
    const cost = nativeCost === undefined ? undefined : inAsset(symbol, nativeCost, rates);
    if (cost === undefined) return [];
    const networkFee = networkFeeFor(cost, policy);
    return networkFee === policy.networkFee ? [] : [{ symbol, networkFee }];
  });
}

/** The fee for a payout that costs `cost`, of the same asset: a margin on it, within limits, and steady. */
export function networkFeeFor(
  cost: Units,
  { networkFee: current, marginPercent, floor, cap }: Omit<FeePolicy, 'symbol' | 'rate'>,
): Units {
  const covering = roundUpToDigits(percentUp(cost, marginPercent), SIGNIFICANT_DIGITS);
  const wanted = covering < floor ? floor : covering > cap ? cap : covering;
  const isMuchLower = (current - wanted) * 100n >= current * FALLS_BY_PERCENT;
  return wanted > current || isMuchLower || current > cap ? wanted : current;
}

/** The cost in the asset itself, rounded up; undefined when a rate for it is missing. */
function inAsset(
  symbol: AssetSymbol,
  nativeCost: Units,
  rates: ReadonlyMap<AssetSymbol, Rate | undefined>,
): Units | undefined {
  const native = nativeAsset[assets[symbol].chain];
  if (native === symbol) return nativeCost;
  const [from, to] = [rates.get(native), rates.get(symbol)];
  if (from === undefined || to === undefined) return undefined;
  return convertUnits(
    nativeCost,
    { rate: from, decimals: assets[native].decimals },
    { rate: to, decimals: assets[symbol].decimals },
    'up',
  );
}

function freshRate(rate: FeePolicy['rate'], now: Date): Rate | undefined {
  return rate !== null && now.getTime() - rate.asOf.getTime() <= COST_AGE_MAX_MS ? rate.usd : undefined;
}
