import { type AssetSymbol, assets } from './assets.ts';
import { formatUnits, units } from './money.ts';

/** An amount in whole units of its asset, rounded, for a graph. */
export function inWholeUnits(asset: AssetSymbol, amount: bigint): number {
  // eslint-disable-next-line no-restricted-syntax -- for a graph; amounts are exact in the records
  return Number(formatUnits(units(amount), assets[asset].decimals));
}
