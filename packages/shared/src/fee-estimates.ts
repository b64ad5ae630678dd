import { z } from 'zod';
import { type AssetSymbol, assetSymbols, chains } from './assets.ts';
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import { followBucket } from './follow.ts';
import { type Logger, reason } from './logger.ts';

const BUCKET = 'fee_estimates';

/** What a usual payout of an asset costs on its chain now, as the chain's node says. */
const feeEstimateSchema = z.object({
  asset: z.enum(assetSymbols),
  chain: z.enum(chains),
  /** In smallest units of the chain's native asset, as text. */
  native_cost: z.string().regex(/^\d{1,78}$/),
  as_of: z.iso.datetime(),
});
export type FeeEstimate = z.infer<typeof feeEstimateSchema>;

/** Writes estimates to the bus' key-value bucket; payouts alone does this. */
export async function publishFeeEstimates(bus: Bus, estimates: readonly FeeEstimate[]): Promise<void> {
  const kv = await bus.kv(BUCKET);
  await Promise.all(estimates.map((estimate) => kv.put(estimate.asset, JSON.stringify(estimate))));
}

export type FeeEstimateBoard = {
  /** The latest estimate, unless it is older than `maxAgeMs` or none was ever seen. */
  fresh(asset: AssetSymbol, maxAgeMs: number): FeeEstimate | undefined;
  stop(): Promise<void>;
};

/** Follows the bucket and keeps the newest estimate of each asset. */
export function watchFeeEstimates(bus: Bus, clock: Clock, logger: Logger): FeeEstimateBoard {
  const board = new Map<AssetSymbol, FeeEstimate>();
  const following = followBucket({
    bus,
    bucket: BUCKET,
    keys: assetSymbols,
    logger,
    take(entry) {
      try {
        const estimate = feeEstimateSchema.parse(entry.json());
        board.set(estimate.asset, estimate);
      } catch (error) {
        logger.error({ asset: entry.key, reason: reason(error) }, 'a fee estimate could not be read');
      }
    },
  });
  return {
    fresh(asset, maxAgeMs) {
      const estimate = board.get(asset);
      if (estimate === undefined) return undefined;
      const age = clock.now().getTime() - Date.parse(estimate.as_of);
      return age <= maxAgeMs ? estimate : undefined;
    },
    stop: following.stop,
  };
}
