import { z } from 'zod';
import { assetSymbols, chains } from './assets.ts';
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { putInBucket, type WatchedBucket, watchBucket } from './quotes.ts';

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

/** Writes estimates to the bucket; payouts alone does this. */
export const publishFeeEstimates = (bus: Bus, estimates: readonly FeeEstimate[]): Promise<void> =>
  putInBucket(bus, BUCKET, estimates);

export type FeeEstimateBoard = WatchedBucket<FeeEstimate>;

/** Keeps the newest estimate of each asset. */
export const watchFeeEstimates = (bus: Bus, clock: Clock, logger: Logger): FeeEstimateBoard =>
  watchBucket({ bus, bucket: BUCKET, schema: feeEstimateSchema, clock, logger });
