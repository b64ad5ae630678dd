import type { Reading } from '../src/domain/quote.ts';
import type { PriceSource } from '../src/ports.ts';

/** Prices that the test sets; `read` counts how often they were asked for. */
export function fixedPrices(readings: readonly Reading[], sourcesMin = 1) {
  const prices = { sourcesMin, now: [...readings], reads: 0, read };
  async function read(): Promise<Reading[]> {
    prices.reads += 1;
    return prices.now;
  }
  return prices satisfies PriceSource;
}
