import { readFile } from 'node:fs/promises';
import { type AssetSymbol, isAssetSymbol } from '@quittance/shared/assets';
import type { Clock } from '@quittance/shared/clock';
import { type Logger, reason } from '@quittance/shared/logger';
import { rateFromSource } from '@quittance/shared/money';
import { z } from 'zod';
import type { Reading } from './domain/quote.ts';
import type { PriceSource } from './ports.ts';

/** `{"ETH": "2500", "USDC_ERC20": "1"}`: US dollars for one whole asset. Each asset has its own. */
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
  let failing = false;
  let missed = '';
  return {
    sourcesMin: 1,
    async read() {
      try {
        const prices = Object.entries(table.parse(JSON.parse(await readFile(path, 'utf8'))));
        const readings = prices.map(([asset, price]) => readingOf(asset, price, clock.now()));
        if (failing) logger.info({ path }, 'the price file can be read again');
        failing = false;
        const missing = assets.filter((asset) => !readings.some((reading) => reading.asset === asset));
        if (missing.length > 0 && missing.join() !== missed)
          logger.error({ path, missing }, `the price file names no price of ${missing.join(', ')}`);
        missed = missing.join();
        return readings;
      } catch (error) {
        // Once a second the same trouble would be a line a second.
        if (!failing) logger.error({ path, reason: reason(error) }, 'the price file cannot be read');
        failing = true;
        return [];
      }
    },
  };
}

function readingOf(asset: string, price: string | number, readAt: Date): Reading {
  if (!isAssetSymbol(asset)) throw new Error(`there is no asset ${asset}`);
  const rate = rateFromSource(price);
  if (rate === undefined) throw new Error(`the price of ${asset} is not a positive number`);
  return { source: 'file', asset, rate, readAt };
}
