import { z } from 'zod';
import { type AssetSymbol, assetSymbols } from './assets.ts';
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { putInBucket, watchBucket } from './watched-bucket.ts';

const BUCKET = 'quotes';

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
  putInBucket(bus, BUCKET, new Map(quotes.map((quote) => [quote.asset, quote])));

export type QuoteBoard = {
  /** The latest quote however old, or undefined when none was ever seen. For showing, not for deciding. */
  latest(asset: AssetSymbol): Quote | undefined;
  /** The latest quote if it is fresh enough to decide with. */
  fresh(asset: AssetSymbol): Quote | undefined;
  stop(): Promise<void>;
};

/** Keeps the newest quote of each asset. Older than `maxAgeMs` is not fresh. */
export function watchQuotes(bus: Bus, clock: Clock, logger: Logger, maxAgeMs: number): QuoteBoard {
  const quotes = watchBucket({ bus, bucket: BUCKET, keys: assetSymbols, schema: quoteSchema, clock, logger });
  return { ...quotes, fresh: (asset) => quotes.fresh(asset, maxAgeMs) };
}
