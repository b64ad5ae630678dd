import { readFile } from 'node:fs/promises';
import { type AssetSymbol, isAssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import { isForeignCurrency } from '@quittance/shared/currencies';
import { type Logger, reason, throttledLog } from '@quittance/shared/logger';
import { rateFromSource } from '@quittance/shared/money';
import { z } from 'zod';
import type { Reading } from '../domain/quote.ts';
import type { PriceSource } from '../ports.ts';

/**
 * `{"ETH": "2500", "USDC_ERC20": "1", "EUR": "1.08"}`: US dollars for one whole asset or one unit of a currency. Each asset
 * has its own. A currency that is not named has no rate.
 */
const table = z.record(z.string(), z.union([z.string(), z.number()]));

export type FilePricesOptions = {
  path: string;
  /** Those that need a price. */
  assets: readonly AssetSymbol[];
  clock: Clock;
  logger: Logger;
};

/**
 * A table of prices that an operator keeps by hand, read again at each refresh: for the sandbox, tests and
 * whoever sets prices of their own. While it cannot be read there is no rate of now.
 */
export function filePrices({ path, assets, clock, logger }: FilePricesOptions): PriceSource {
  const throttled = throttledLog(logger);
  return {
    sourcesMin: 1,
    async read() {
      try {
        const prices = Object.entries(table.parse(JSON.parse(await readFile(path, 'utf8'))));
        const readings = prices.map(([symbol, price]) => readingOf(symbol, price, clock.now()));
        throttled.ended('file', { path }, 'the price file can be read again');
        const missing = assets.filter((asset) => !readings.some((reading) => reading.symbol === asset));
        const named = missing.join(', ');
        if (named !== '')
          throttled.log('error', named, { path, missing }, `the price file names no price of ${named}`);
        return readings;
      } catch (error) {
        throttled.log('error', 'file', { path, reason: reason(error) }, 'the price file cannot be read');
        return [];
      }
    },
  };
}

function readingOf(symbol: string, price: string | number, readAt: Date): Reading {
  if (!isAssetSymbol(symbol) && !isForeignCurrency(symbol))
    throw new Error(`there is no asset or currency ${symbol}`);
  const rate = rateFromSource(price);
  if (rate === undefined) throw new Error(`the price of ${symbol} is not a positive number`);
  return { source: 'file', symbol, rate, readAt };
}
