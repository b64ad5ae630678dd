import type { AssetSymbol } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { type Lease, takeLease } from '@quittance/shared/lease';
import { rateFromSource } from '@quittance/shared/money';
import type { Reading } from '../src/domain/quote.ts';
import { refreshQuotes } from '../src/operations/refresh-quotes.ts';
import type { Ports, PriceSource } from '../src/ports.ts';

/** Prices that the test sets; `read` counts how often they were asked for. */
export function fixedPrices(readings: readonly Reading[], sourcesMin = 1) {
  const prices = { sourcesMin, now: [...readings], reads: 0, read };
  async function read(): Promise<Reading[]> {
    prices.reads += 1;
    return prices.now;
  }
  return prices satisfies PriceSource;
}

/** Has the ledger publish these prices, of one source. */
export async function publishPrices(ports: Ports, prices: { [A in AssetSymbol]?: string }): Promise<void> {
  const lease = (await takeLease(ports.db, 'quotes', 'this test', 600_000)) as Lease;
  const readings = Object.entries(prices).map(([asset, price]) => ({
    source: 'test',
    symbol: asset as AssetSymbol,
    rate: rateFromSource(price) ?? (0n as never),
    readAt: systemClock.now(),
  }));
  await refreshQuotes({ ...ports, prices: fixedPrices(readings) }, lease);
}
