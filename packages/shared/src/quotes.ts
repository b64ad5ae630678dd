import { z } from 'zod';
import { type AssetSymbol, assetSymbols, chains } from './assets.ts';
import type { Bucket, Bus } from './bus.ts';
import type { BucketName } from './bus-connection.ts';
import { type Clock, sleep } from './clock.ts';
import { type ForeignCurrency, foreignCurrencies } from './currencies.ts';
import { type Logger, reason, throttledLog } from './logger.ts';

/** Where a rate comes from: each source's own rate and when it was read. */
const sourcesSchema = z.array(z.object({ name: z.string(), usd_rate: z.string(), read_at: z.string() }));

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
  sources: sourcesSchema,
  /** How far the sources lie apart, in basis points of the lowest. */
  spread_bps: z.number().int(),
  as_of: z.string(),
});
export type Quote = z.infer<typeof quoteSchema>;

/** Writes quotes to the bucket; the ledger alone does this. */
export const publishQuotes = (bus: Bus, quotes: readonly Quote[]): Promise<void> =>
  putInBucket(
    bus,
    'quotes',
    quotes.map((quote) => [quote.asset, quote]),
  );

export type QuoteBoard = Omit<WatchedBucket<AssetSymbol, Quote>, 'fresh'> & {
  /** The latest quote if it is fresh enough to decide with. */
  fresh(asset: AssetSymbol): Quote | undefined;
};

/** Keeps the newest quote of each asset. Older than `maxAgeMs` is not fresh. */
export function watchQuotes(bus: Bus, clock: Clock, logger: Logger, maxAgeMs: number): QuoteBoard {
  const quotes = watchBucket({
    bus,
    bucket: 'quotes',
    keys: assetSymbols,
    schema: quoteSchema,
    clock,
    logger,
  });
  return { ...quotes, fresh: (asset) => quotes.fresh(asset, maxAgeMs) };
}

/** What the ledger says of a currency now. */
const fiatRateSchema = z.object({
  currency: z.enum(foreignCurrencies),
  /** US dollars for one unit of the currency, at most 18 decimals. */
  usd_rate: z.string(),
  sources: sourcesSchema,
  spread_bps: z.number().int(),
  as_of: z.string(),
});
export type FiatRate = z.infer<typeof fiatRateSchema>;

/** Writes the rates of currencies to the bucket of quotes, each under its code; the ledger alone does this. */
export const publishFiatRates = (bus: Bus, rates: readonly FiatRate[]): Promise<void> =>
  putInBucket(
    bus,
    'quotes',
    rates.map((rate) => [rate.currency, rate]),
  );

export type FiatRateBoard = Pick<WatchedBucket<ForeignCurrency, FiatRate>, 'stop'> & {
  /** The latest rate if it is fresh enough to decide with. */
  fresh(currency: ForeignCurrency): FiatRate | undefined;
};

/** Keeps the newest rate of each currency. Older than `maxAgeMs` is not fresh. */
export function watchFiatRates(bus: Bus, clock: Clock, logger: Logger, maxAgeMs: number): FiatRateBoard {
  const rates = watchBucket({
    bus,
    bucket: 'quotes',
    keys: foreignCurrencies,
    schema: fiatRateSchema,
    clock,
    logger,
  });
  return { stop: rates.stop, fresh: (currency) => rates.fresh(currency, maxAgeMs) };
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
  putInBucket(
    bus,
    'fee_estimates',
    estimates.map((estimate) => [estimate.asset, estimate]),
  );

export type FeeEstimateBoard = WatchedBucket<AssetSymbol, FeeEstimate>;

/** Keeps the newest estimate of each asset. */
export const watchFeeEstimates = (bus: Bus, clock: Clock, logger: Logger): FeeEstimateBoard =>
  watchBucket({ bus, bucket: 'fee_estimates', keys: assetSymbols, schema: feeEstimateSchema, clock, logger });

/** Writes the newest values of some keys; see `buckets` for the one service that may. */
async function putInBucket(
  bus: Pick<Bus, 'kv'>,
  bucket: BucketName,
  values: readonly (readonly [key: AssetSymbol | ForeignCurrency, value: object])[],
): Promise<void> {
  const kv = await bus.kv(bucket);
  await Promise.all(values.map(([key, value]) => kv.put(key, JSON.stringify(value))));
}

type WatchedBucket<K extends string, V> = {
  /** The newest value however old, or undefined when none was ever seen. For showing, not for deciding. */
  latest(key: K): V | undefined;
  /** The newest value, unless it is older than `maxAgeMs`. */
  fresh(key: K, maxAgeMs: number): V | undefined;
  stop(): Promise<void>;
};

const READ_EVERY_MS = 1_000;
/** A service that starts cannot work without first values, and their writer may be starting too. */
const FIRST_READ_EVERY_MS = 200;
const FIRST_READS = 50;

/**
 * Keeps the newest value of each key in a key-value bucket, through outages of NATS. It reads every second: a subscription
 * takes a consumer, and a user that may create one can have its messages delivered to any subject.
 */
function watchBucket<K extends string, V extends { as_of: string }>({
  bus,
  bucket,
  keys,
  schema,
  clock,
  logger,
}: {
  bus: Pick<Bus, 'connected' | 'kv'>;
  bucket: BucketName;
  keys: readonly K[];
  schema: z.ZodType<V>;
  clock: Clock;
  logger: Logger;
}): WatchedBucket<K, V> {
  const stopping = new AbortController();
  const throttled = throttledLog(logger);
  const revisions = new Map<K, number>();
  const values = new Map<K, V>();

  async function readKey(kv: Bucket, key: K): Promise<void> {
    const entry = await kv.get(key);
    // Not "newer": a bucket that was made again counts its revisions from 1.
    if (entry === null || entry.operation !== 'PUT' || revisions.get(key) === entry.revision) return;
    revisions.set(key, entry.revision);
    try {
      values.set(key, schema.parse(entry.json()));
    } catch (error) {
      logger.error({ bucket, key, reason: reason(error) }, 'a value in a bucket has an unknown form');
    }
  }

  const loop = (async () => {
    for (let reads = 1; !stopping.signal.aborted; ) {
      try {
        if (bus.connected()) {
          reads += 1;
          const kv = await bus.kv(bucket);
          await Promise.all(keys.map((key) => readKey(kv, key)));
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
    latest: (key) => values.get(key),
    fresh(key, maxAgeMs) {
      const value = values.get(key);
      const isFresh = value !== undefined && clock.now().getTime() - Date.parse(value.as_of) <= maxAgeMs;
      return isFresh ? value : undefined;
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
