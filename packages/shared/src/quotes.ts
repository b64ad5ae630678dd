import { z } from 'zod';
import { type AssetSymbol, assetSymbols, chains } from './assets.ts';
import type { Bucket, Bus } from './bus.ts';
import type { BucketName } from './bus-connection.ts';
import { type Clock, sleep } from './clock.ts';
import { type Logger, reason, throttledLog } from './logger.ts';

/** What the ledger says of an asset now. Amounts in its smallest unit, rates as decimal text, all as text. */
const quoteSchema = z.object({
  asset: z.enum(assetSymbols),
  /** Merchants may use it for new invoices and payouts. */
  active: z.boolean(),
  /** US dollars for one whole asset, at most 18 decimals. */
  usd_rate: z.string(),
  /** What a payout costs the merchant beside its amount, in smallest units. */
  network_fee: z.string(),
  min_confirmations: z.number().int(),
  /** Less than this is neither credited by itself nor paid out, in smallest units. */
  dust: z.string(),
  /** Where the rate comes from: each source's own rate and when it was read. */
  sources: z.array(z.object({ name: z.string(), usd_rate: z.string(), read_at: z.string() })),
  /** How far the sources lie apart, in basis points of the lowest. */
  spread_bps: z.number().int(),
  as_of: z.string(),
});
export type Quote = z.infer<typeof quoteSchema>;

/** Writes quotes to the bucket; the ledger alone does this. */
export const publishQuotes = (bus: Bus, quotes: readonly Quote[]): Promise<void> =>
  putInBucket(bus, 'quotes', quotes);

export type QuoteBoard = Omit<WatchedBucket<Quote>, 'fresh'> & {
  /** The latest quote if it is fresh enough to decide with. */
  fresh(asset: AssetSymbol): Quote | undefined;
};

/** Keeps the newest quote of each asset. Older than `maxAgeMs` is not fresh. */
export function watchQuotes(bus: Bus, clock: Clock, logger: Logger, maxAgeMs: number): QuoteBoard {
  const quotes = watchBucket({ bus, bucket: 'quotes', schema: quoteSchema, clock, logger });
  return { ...quotes, fresh: (asset) => quotes.fresh(asset, maxAgeMs) };
}

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
  putInBucket(bus, 'fee_estimates', estimates);

export type FeeEstimateBoard = WatchedBucket<FeeEstimate>;

/** Keeps the newest estimate of each asset. */
export const watchFeeEstimates = (bus: Bus, clock: Clock, logger: Logger): FeeEstimateBoard =>
  watchBucket({ bus, bucket: 'fee_estimates', schema: feeEstimateSchema, clock, logger });

/** Writes the newest values of some assets; see `buckets` for the one service that may. */
async function putInBucket(
  bus: Pick<Bus, 'kv'>,
  bucket: BucketName,
  values: readonly { asset: AssetSymbol }[],
): Promise<void> {
  const kv = await bus.kv(bucket);
  await Promise.all(values.map((value) => kv.put(value.asset, JSON.stringify(value))));
}

type WatchedBucket<V> = {
  /** The newest value however old, or undefined when none was ever seen. For showing, not for deciding. */
  latest(asset: AssetSymbol): V | undefined;
  /** The newest value, unless it is older than `maxAgeMs`. */
  fresh(asset: AssetSymbol, maxAgeMs: number): V | undefined;
  stop(): Promise<void>;
};

const READ_EVERY_MS = 1_000;
/** A service that starts cannot work without first values, and their writer may be starting too. */
const FIRST_READ_EVERY_MS = 200;
const FIRST_READS = 50;

/**
 * Keeps the newest value of each asset in a key-value bucket, through outages of NATS. It reads every second: a subscription
 * takes a consumer, and a user that may create one can have its messages delivered to any subject.
 */
function watchBucket<V extends { as_of: string }>({
  bus,
  bucket,
  schema,
  clock,
  logger,
}: {
  bus: Pick<Bus, 'connected' | 'kv'>;
  bucket: BucketName;
  schema: z.ZodType<V>;
  clock: Clock;
  logger: Logger;
}): WatchedBucket<V> {
  const stopping = new AbortController();
  const throttled = throttledLog(logger);
  const revisions = new Map<AssetSymbol, number>();
  const values = new Map<AssetSymbol, V>();

  async function readKey(kv: Bucket, asset: AssetSymbol): Promise<void> {
    const entry = await kv.get(asset);
    // Not "newer": a bucket that was made again counts its revisions from 1.
    if (entry === null || entry.operation !== 'PUT' || revisions.get(asset) === entry.revision) return;
    revisions.set(asset, entry.revision);
    try {
      values.set(asset, schema.parse(entry.json()));
    } catch (error) {
      logger.error({ bucket, key: asset, reason: reason(error) }, 'a value in a bucket has an unknown form');
    }
  }

  const loop = (async () => {
    for (let reads = 1; !stopping.signal.aborted; ) {
      try {
        if (bus.connected()) {
          reads += 1;
          const kv = await bus.kv(bucket);
          await Promise.all(assetSymbols.map((asset) => readKey(kv, asset)));
          throttled.ended(bucket, { bucket }, 'the bucket is read again');
        }
      } catch (error) {
        const fields = { bucket, reason: reason(error) };
        throttled.log('warn', bucket, fields, 'a bucket cannot be read, trying again');
      }
      const isStarting = revisions.size === 0 && reads < FIRST_READS;
      await sleep(isStarting ? FIRST_READ_EVERY_MS : READ_EVERY_MS, stopping.signal);
    }
  })();

  return {
    latest: (asset) => values.get(asset),
    fresh(asset, maxAgeMs) {
      const value = values.get(asset);
      const isFresh = value !== undefined && clock.now().getTime() - Date.parse(value.as_of) <= maxAgeMs;
      return isFresh ? value : undefined;
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
