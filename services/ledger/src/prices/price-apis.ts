import type { AssetSymbol } from '@quittance/shared/assets';
import { z } from 'zod';

/** A price as a source gives it, and when it was made, where the source says so. */
export type Told = { price: string | number; at?: Date };

/** What is traded: the same thing on another network has the same price. */
export type Market = 'BTC' | 'ETH' | 'SOL' | 'POL' | 'USDC';

export const marketOf = {
  BTC: 'BTC',
  ETH: 'ETH',
  SOL: 'SOL',
  USDC_ERC20: 'USDC',
  USDC_SOL: 'USDC',
  ETH_BASE: 'ETH',
  USDC_BASE: 'USDC',
  POL: 'POL',
  USDC_POLYGON: 'USDC',
} as const satisfies Record<AssetSymbol, Market>;

/** A public price source as data: where it is asked for a market, and how its answer is read. */
export type PriceApi = {
  name: string;
  origin: string;
  path: (pair: string) => string;
  /** What the source calls a market against US dollars. */
  pairs: Partial<Record<Market, string>>;
  /** Throws on anything but a price. */
  answer: z.ZodType<Told>;
};

const price = z.union([z.string(), z.number()]);
const time = (milliseconds: number): Date => new Date(milliseconds);

/**
 * Exchanges with real markets against the dollar, asked without a key. USDC is asked only where it is
 * traded: Coinbase answers 1 for it whatever the market says.
 */
export const priceApis: readonly PriceApi[] = [
  {
    name: 'coinbase',
    origin: 'https://api.exchange.coinbase.com',
    path: (pair) => `/products/${pair}/ticker`,
    pairs: { BTC: 'BTC-USD', ETH: 'ETH-USD', SOL: 'SOL-USD', POL: 'POL-USD' },
    // {"price":"2500.12","bid":"2500.11","ask":"2500.12","time":"2026-01-02T03:04:05.511254Z",…}
    answer: z
      .object({ price, time: z.iso.datetime() })
      .transform((body) => ({ price: body.price, at: time(Date.parse(body.time)) })),
  },
  {
    name: 'kraken',
    origin: 'https://api.kraken.com',
    path: (pair) => `/0/public/Ticker?pair=${pair}`,
    pairs: { BTC: 'XBTUSD', ETH: 'ETHUSD', SOL: 'SOLUSD', POL: 'POLUSD', USDC: 'USDCUSD' },
    // {"error":[],"result":{"XETHZUSD":{"c":["2500.12","0.5"],…}}}; the name in it is not the one asked for
    answer: z
      .object({
        error: z.array(z.unknown()).max(0),
        result: z.record(z.string(), z.object({ c: z.tuple([price], z.unknown()) })),
      })
      .transform((body, context) => {
        const [market, ...others] = Object.values(body.result);
        if (market !== undefined && others.length === 0) return { price: market.c[0] };
        context.addIssue({ code: 'custom', message: 'not exactly one market' });
        return z.NEVER;
      }),
  },
  {
    name: 'bitstamp',
    origin: 'https://www.bitstamp.net',
    path: (pair) => `/api/v2/ticker/${pair}/`,
    pairs: { BTC: 'btcusd', ETH: 'ethusd', SOL: 'solusd', USDC: 'usdcusd' },
    // {"last":"2500.12","timestamp":"1767323045",…} with seconds
    answer: z
      .object({ last: price, timestamp: z.coerce.number().int().positive() })
      .transform((body) => ({ price: body.last, at: time(body.timestamp * 1_000) })),
  },
  {
    name: 'gemini',
    origin: 'https://api.gemini.com',
    path: (pair) => `/v1/pubticker/${pair}`,
    pairs: { BTC: 'btcusd', ETH: 'ethusd', SOL: 'solusd', USDC: 'usdcusd' },
    // {"last":"2500.12","volume":{"ETH":"…","USD":"…","timestamp":1767323045000},…} with milliseconds
    answer: z
      .object({ last: price, volume: z.object({ timestamp: z.number().int().positive() }) })
      .transform((body) => ({ price: body.last, at: time(body.volume.timestamp) })),
  },
];
