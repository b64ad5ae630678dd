import type { AssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { rateFromSource } from '@quittance/shared/money';
import { Agent, request } from 'undici';
import type { Reading } from '../domain/quote.ts';
import type { PriceSource } from '../ports.ts';
import { marketOf, type PriceApi, priceApis } from './price-apis.ts';

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
  timeoutMs?: number;
};

/** Asks all sources for all markets at once, each once; what does not answer in time, or not with a price, is left out. */
export function publicPrices({
  assets,
  clock,
  logger,
  apis = priceApis,
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

  async function ask(api: PriceApi, pair: string): Promise<Omit<Reading, 'asset'>> {
    const { statusCode, body } = await request(`${api.origin}${api.path(pair)}`, {
      dispatcher: agent,
      headers: { accept: 'application/json', 'user-agent': 'quittance' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Read in any case: an unread body keeps its connection.
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    const told = api.answer.parse(JSON.parse(text));
    const rate = rateFromSource(told.price);
    if (rate === undefined) throw new Error('answered with a price that is no positive number');
    return { source: api.name, rate, readAt: told.at ?? clock.now() };
  }

  async function read(api: PriceApi, traded: readonly AssetSymbol[], pair: string): Promise<Reading[]> {
    const market = `${api.name} ${pair}`;
    try {
      const reading = await ask(api, pair);
      throttled.ended(market, { market }, 'a price source answers again');
      return traded.map((asset) => ({ ...reading, asset }));
    } catch (error) {
      throttled.log('warn', market, { market, reason: reason(error) }, 'a price source gave no price');
      return [];
    }
  }

  return {
    sourcesMin: SOURCES_MIN,
    async read() {
      const asked = apis.flatMap((api) =>
        [...markets].flatMap(([name, traded]) => {
          const pair = api.pairs[name];
          return pair === undefined ? [] : [read(api, traded, pair)];
        }),
      );
      return (await Promise.all(asked)).flat();
    },
  };
}
