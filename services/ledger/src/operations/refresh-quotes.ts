import { assetSymbols } from '@quittance/shared/assets';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { publishQuotes } from '@quittance/shared/quotes';
import { type AgreedRate, agreeOnRate } from '../domain/quote.ts';
import type { Ports } from '../ports.ts';
import { allAssets, saveRates } from '../store-quotes.ts';
import { quoteView } from '../views.ts';

/**
 * Asks the price sources, keeps what they agree on and tells everybody. An asset whose sources are away or
 * at odds keeps its last rate with its old time, so that each reader can see how old it is.
 * @returns how many assets have a rate of now.
 */
export async function refreshQuotes(
  { db, bus, clock, logger, prices }: Pick<Ports, 'db' | 'bus' | 'clock' | 'logger' | 'prices'>,
  lease: Lease,
): Promise<number> {
  const readings = await prices.read();
  const now = clock.now();
  const agreed: AgreedRate[] = [];
  for (const asset of assetSymbols) {
    const said = readings.filter((reading) => reading.asset === asset);
    // An asset nobody quotes at all (inactive ones in a small price file) is no news.
    if (said.length === 0) continue;
    const rate = agreeOnRate(asset, said, now, prices.sourcesMin);
    if (rate.ok) agreed.push(rate.value);
    else logger.warn({ asset, refusal: rate.refusal }, 'the price sources give no rate, the last one ages');
  }
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await saveRates(trx, agreed);
  });
  await publishQuotes(bus, (await allAssets(db)).map(quoteView));
  return agreed.length;
}
