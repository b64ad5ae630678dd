import { z } from 'zod';
import { type AssetSymbol, assetSymbols } from './assets.ts';
import type { Bus } from './bus.ts';
import type { Clock } from './clock.ts';
import { followBucket } from './follow.ts';
import { type Logger, reason } from './logger.ts';

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

/** Writes quotes to the bus' key-value bucket; the ledger alone does this. */
export async function publishQuotes(bus: Bus, quotes: readonly Quote[]): Promise<void> {
  const kv = await bus.kv(BUCKET);
  await Promise.all(quotes.map((quote) => kv.put(quote.asset, JSON.stringify(quote))));
}

export type QuoteBoard = {
  /** The latest quote however old, or undefined when none was ever seen. For showing, not for deciding. */
  latest(asset: AssetSymbol): Quote | undefined;
  /** The latest quote if it is fresh enough to decide with. */
  fresh(asset: AssetSymbol): Quote | undefined;
  stop(): Promise<void>;
};

/** Follows the bucket and keeps the newest quote of each asset. Older than `maxAgeMs` is not fresh. */
export function watchQuotes(bus: Bus, clock: Clock, logger: Logger, maxAgeMs: number): QuoteBoard {
  const board = new Map<AssetSymbol, Quote>();
  const following = followBucket({
    bus,
    bucket: BUCKET,
    keys: assetSymbols,
    logger,
    take(entry) {
      try {
        const quote = quoteSchema.parse(entry.json());
        board.set(quote.asset, quote);
      } catch (error) {
        logger.error({ asset: entry.key, reason: reason(error) }, 'a quote could not be read');
      }
    },
  });
  return {
    latest: (asset) => board.get(asset),
    fresh(asset) {
      const quote = board.get(asset);
      if (quote === undefined) return undefined;
      const age = clock.now().getTime() - Date.parse(quote.as_of);
      return age <= maxAgeMs ? quote : undefined;
    },
    stop: following.stop,
  };
}
