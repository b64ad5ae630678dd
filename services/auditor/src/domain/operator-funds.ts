import type { AssetSymbol } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';

/** What a comparison has found of each asset, in base units. */
export type Measured = ReadonlyMap<AssetSymbol, MeasuredReserve>;
export type MeasuredReserve = {
  /** What lies on the chain beside what is booked. */
  beyond: bigint;
  /** The operator's funds as they are known; undefined: they were never measured. */
  funds: bigint | undefined;
  /** No transaction of ours was on its way. */
  isStill: boolean;
};

/** An amount that belongs to the operator's funds from now on. */
export type FoundFunds = { asset: AssetSymbol; amount: Units; cause: 'measured' | 'arrived' };

/**
 * What is to be noted of the operator's funds. Only what two comparisons have shown alike while no transaction was on its way
 * counts: a payment that the records do not have yet is no money of the operator's. Less than is known is a discrepancy, and
 * nothing is noted for it.
 */
export function foundFunds(before: Measured, now: Measured): FoundFunds[] {
  return [...now].flatMap(([asset, { beyond, funds, isStill }]): FoundFunds[] => {
    const last = before.get(asset);
    if (!isStill || last === undefined || !last.isStill) return [];
    // An operator has noted a withdrawal between them.
    if (last.beyond !== beyond || last.funds !== funds) return [];
    if (funds === undefined) return [{ asset, amount: units(beyond), cause: 'measured' }];
    return beyond > funds ? [{ asset, amount: units(beyond - funds), cause: 'arrived' }] : [];
  });
}
