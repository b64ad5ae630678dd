import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { type Rate, rateFromSource } from '@quittance/shared/money';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { Rated, Reading } from '../domain/quote.ts';
import type { PriceSource } from '../ports.ts';
import { type FiatApi, fiatApis } from './fiat-apis.ts';

/** A price as a source gives it, and when it was made, where the source says so. */
type Told = { price: string | number; at?: Date };

/** What is traded: the same thing on another network has the same price. */
type Market = 'BTC' | 'ETH' | 'SOL' | 'POL' | 'USDC';

const marketOf = {
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

/** For the whole of a request: connecting, waiting, reading. */
const ANSWER_TIMEOUT_MS = 4_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** One source alone could say anything. */
const SOURCES_MIN = 2;

export type PublicPricesOptions = {
  assets: readonly AssetSymbol[];
  clock: Clock;
  logger: Logger;
  apis?: readonly PriceApi[];
  currencyApis?: readonly FiatApi[];
  timeoutMs?: number;
};

/** One request to a source. */
type Request = {
  source: string;
  url: string;
  /** What is asked about, for the log. */
  about: string;
  /** Reads its answer: throws on anything unexpected. Undefined: the source gave no price of this symbol. */
  pricesIn: (answer: unknown) => { symbol: Rated; rate: Rate | undefined; at?: Date | undefined }[];
};

/** Asks all sources for all markets at once, each once; what does not answer in time, or not with a price, is left out. */
export function publicPrices({
  assets,
  clock,
  logger,
  apis = priceApis,
  currencyApis = fiatApis,
  timeoutMs = ANSWER_TIMEOUT_MS,
}: PublicPricesOptions): PriceSource {
  const agent = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: ANSWER_BYTES_MAX,
    connections: 4,
  });
  const throttled = throttledLog(logger);
  const markets = Map.groupBy(assets, (asset) => marketOf[asset]);
  const requests = [
    ...apis.flatMap((api) => [...markets].flatMap(([name, traded]) => requestsFor(api, name, traded))),
    ...currencyApis.flatMap(currencyRequests),
  ];

  async function ask(url: string): Promise<unknown> {
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      headers: { accept: 'application/json', 'user-agent': 'quittance' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Read in any case: an unread body keeps its connection.
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    return JSON.parse(text);
  }

  async function read({ source, url, about, pricesIn }: Request): Promise<Reading[]> {
    const market = `${source} ${about}`;
    try {
      const prices = pricesIn(await ask(url));
      const readings = prices.flatMap(({ symbol, rate, at = clock.now() }) =>
        rate === undefined ? [] : [{ source, symbol, rate, readAt: at }],
      );
      const missing = prices.filter(({ rate }) => rate === undefined).map(({ symbol }) => symbol);
      if (missing.length > 0) throttled.log('warn', market, { market, missing }, NO_PRICE);
      else throttled.ended(market, { market }, 'a price source answers again');
      return readings;
    } catch (error) {
      throttled.log('warn', market, { market, reason: reason(error) }, NO_PRICE);
      return [];
    }
  }

  return {
    sourcesMin: SOURCES_MIN,
    read: async () => (await Promise.all(requests.map(read))).flat(),
  };
}

const NO_PRICE = 'a price source gave no price';

/** None where the source does not have the market. */
function requestsFor(api: PriceApi, market: Market, traded: readonly AssetSymbol[]): Request[] {
  const pair = api.pairs[market];
  if (pair === undefined) return [];
  return [
    {
      source: api.name,
      url: `${api.origin}${api.path(pair)}`,
      about: pair,
      pricesIn(answer) {
        const told = api.answer.parse(answer);
        const rate = rateFromSource(told.price);
        if (rate === undefined) throw new Error('answered with a price that is no positive number');
        return traded.map((symbol) => ({ symbol, rate, at: told.at }));
      },
    },
  ];
}

const currencyRequests = ({ name, origin, requests }: FiatApi): Request[] =>
  requests.map(({ path, currencies, answer }) => ({
    source: name,
    url: `${origin}${path}`,
    about: currencies.join(', '),
    pricesIn(given) {
      const { rates, at } = answer.parse(given);
      return currencies.map((symbol) => ({ symbol, rate: rates[symbol], at }));
    },
  }));
