import { type ForeignCurrency, foreignCurrencies } from '@quittance/shared/currencies';
import { inverseRate, type Rate, rateFromSource } from '@quittance/shared/money';
import { z } from 'zod';

/** The rates in an answer, in US dollars for one unit; one that is no positive number is missing. */
type ToldRates = { rates: Partial<Record<ForeignCurrency, Rate>>; at?: Date };

/** A public source of the rates of currencies as data: what it is asked, and how its answers are read. */
export type FiatApi = {
  name: string;
  origin: string;
  requests: readonly {
    path: string;
    currencies: readonly ForeignCurrency[];
    /** Throws on another form of answer. */
    answer: z.ZodType<ToldRates>;
  }[];
};

/** Kraken's pairs by currency. A pair that begins with USD says how much of the currency a dollar costs. */
const krakenPairs = {
  EUR: 'EURUSD',
  GBP: 'GBPUSD',
  CHF: 'USDCHF',
  JPY: 'USDJPY',
  CAD: 'USDCAD',
  AUD: 'AUDUSD',
} as const satisfies Record<ForeignCurrency, string>;

/** Kraken writes some pairs in another form than they are asked for: ZEURZUSD, ZUSDZJPY. */
const krakenName = (name: string): string => name.replace(/^Z?([A-Z]{3})Z?([A-Z]{3})$/, '$1$2');

const krakenTicker = z.object({ c: z.tuple([z.union([z.string(), z.number()])], z.unknown()) });

/** {"error":[],"result":{"ZEURZUSD":{"c":["1.08450","120.5"],…},"ZUSDZJPY":…}} */
const krakenAnswer = z
  .object({ error: z.array(z.unknown()).max(0), result: z.record(z.string(), z.unknown()) })
  .transform(({ result }): ToldRates => {
    const tickers = new Map(Object.entries(result).map(([name, ticker]) => [krakenName(name), ticker]));
    return ratesOf((currency) => {
      const pair = krakenPairs[currency];
      const ticker = krakenTicker.safeParse(tickers.get(pair));
      const price = ticker.success ? positive(ticker.data.c[0]) : undefined;
      return price !== undefined && pair.startsWith('USD') ? inverseRate(price) : price;
    });
  });

/** {"last":"1.08450","timestamp":"1767323045",…} with seconds */
const bitstampAnswer = (currency: ForeignCurrency) =>
  z
    .object({ last: z.unknown(), timestamp: z.coerce.number().int().positive() })
    .transform(({ last, timestamp }): ToldRates => {
      const rate = positive(last);
      return { rates: rate === undefined ? {} : { [currency]: rate }, at: new Date(timestamp * 1_000) };
    });

/** {"data":{"currency":"USD","rates":{"EUR":"0.9221","JPY":"149.85",…}}}: how much of each currency a dollar costs. */
const coinbaseAnswer = z
  .object({ data: z.object({ currency: z.literal('USD'), rates: z.record(z.string(), z.unknown()) }) })
  .transform(
    ({ data }): ToldRates =>
      ratesOf((currency) => {
        const price = positive(data.rates[currency]);
        return price && inverseRate(price);
      }),
  );

function ratesOf(rateOf: (currency: ForeignCurrency) => Rate | undefined): ToldRates {
  const rates: Partial<Record<ForeignCurrency, Rate>> = {};
  for (const currency of foreignCurrencies) {
    const rate = rateOf(currency);
    if (rate !== undefined) rates[currency] = rate;
  }
  return { rates };
}

const positive = (price: unknown): Rate | undefined =>
  typeof price === 'string' || typeof price === 'number' ? rateFromSource(price) : undefined;

/**
 * Asked without a key. Kraken and Coinbase are each asked for all currencies at once: the more requests, the sooner a source
 * refuses those for assets.
 */
export const fiatApis: readonly FiatApi[] = [
  {
    name: 'kraken',
    origin: 'https://api.kraken.com',
    requests: [
      {
        path: `/0/public/Ticker?pair=${Object.values(krakenPairs).join(',')}`,
        currencies: foreignCurrencies,
        answer: krakenAnswer,
      },
    ],
  },
  {
    name: 'bitstamp',
    origin: 'https://www.bitstamp.net',
    requests: (['EUR', 'GBP'] as const).map((currency) => ({
      path: `/api/v2/ticker/${currency.toLowerCase()}usd/`,
      currencies: [currency],
      answer: bitstampAnswer(currency),
    })),
  },
  {
    name: 'coinbase',
    origin: 'https://api.coinbase.com',
    requests: [
      { path: '/v2/exchange-rates?currency=USD', currencies: foreignCurrencies, answer: coinbaseAnswer },
    ],
  },
];
