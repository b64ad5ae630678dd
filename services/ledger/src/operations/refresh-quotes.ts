import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { type Units, units } from '@quittance/shared/money';
import { publishQuotes } from '@quittance/shared/quotes';
import { COST_AGE_MAX_MS, changedFees } from '../domain/network-fee.ts';
import { type AgreedRate, agreeOnRate } from '../domain/quote.ts';
import type { Ports } from '../ports.ts';
import { allAssets, feePolicies, saveFees, saveRates } from '../store/quotes.ts';
import { quoteView } from '../views.ts';

/**
 * Asks the price sources, keeps what they agree on, lets the network fees follow the chains, and tells everybody.
 * An asset whose sources are away or at odds keeps its last rate with its old time, so that each reader can see
 * how old it is; one whose cost is not known keeps its last fee.
 * @returns how many assets have a rate of now.
 */
export async function refreshQuotes(
  ports: Pick<Ports, 'db' | 'bus' | 'clock' | 'logger' | 'prices' | 'fees'>,
  lease: Lease,
): Promise<number> {
  const { db, bus, clock, logger, prices, fees } = ports;
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
    const costOf = (asset: AssetSymbol) => costIn(fees, asset);
    await saveFees(trx, changedFees(await feePolicies(trx), costOf, now));
  });
  failpoint('ledger.rates_saved');
  await publishQuotes(bus, (await allAssets(db)).map(quoteView));
  failpoint('ledger.quotes_published');
  return agreed.length;
}

/** What payouts says that a usual payout costs; of no use when it speaks of another chain than ours. */
function costIn(fees: Ports['fees'], asset: AssetSymbol): Units | undefined {
  const estimate = fees.fresh(asset, COST_AGE_MAX_MS);
  return estimate?.chain === assets[asset].chain ? units(estimate.native_cost) : undefined;
}
