import type { AssetSymbol } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';

export const payoutLimits = ['per_payout', 'per_account_24h', 'per_hour', 'per_24h'] as const;
export type PayoutLimit = (typeof payoutLimits)[number];
export const limitNames = [...payoutLimits, 'fees_per_24h'] as const;
export type LimitName = (typeof limitNames)[number];

/** The most of an asset that may be signed for. What has no limit is left out. */
export type AssetLimits = { readonly [L in LimitName]?: Units | undefined };
export type Limits = { readonly [A in AssetSymbol]?: AssetLimits | undefined };

/** What was cleared before, of the asset of a payout. */
export type Sums = { ofAccount24h: Units; ofHour: Units; of24h: Units };

export const noSums = { ofAccount24h: 0n, ofHour: 0n, of24h: 0n } as Sums;

/** The limit that a payout would exceed beside what was cleared before it; undefined when none. What equals a limit is within it. */
export function exceededLimit(limits: AssetLimits, amount: Units, sums: Sums): PayoutLimit | undefined {
  const totals: Record<PayoutLimit, bigint> = {
    per_payout: amount,
    per_account_24h: sums.ofAccount24h + amount,
    per_hour: sums.ofHour + amount,
    per_24h: sums.of24h + amount,
  };
  return payoutLimits.find((name) => totals[name] > (limits[name] ?? totals[name]));
}

/** Whether the most that a transaction can cost exceeds the limit beside what those of the last 24 hours could. */
export const exceedsFees = ({ fees_per_24h: limit }: AssetLimits, maxCost: Units, before: Units): boolean =>
  limit !== undefined && before + maxCost > limit;
