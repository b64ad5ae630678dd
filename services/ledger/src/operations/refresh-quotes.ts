import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { foreignCurrencies } from '@quittance/shared/currencies';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { type Units, units } from '@quittance/shared/money';
import { publishFiatRates, publishQuotes } from '@quittance/shared/quotes';
import { COST_AGE_MAX_MS, changedFees } from '../domain/network-fee.ts';
import { type AgreedRate, agreeOnRate, type Rated, type Reading } from '../domain/quote.ts';
import type { Ports } from '../ports.ts';
import { allAssets, allFiatRates, feePolicies, saveFees, saveRates } from '../store/quotes.ts';
import { fiatRateView, quoteView } from '../views.ts';

/**
 * Asks the price sources, keeps what they agree on, lets the network fees follow the chains, and tells everybody.
 * An asset or a currency whose sources are away or at odds keeps its last rate with its old time, so that each reader can see
 * how old it is; an asset whose cost is not known keeps its last fee.
 * @returns how many assets have a rate of now.
 */
export async function refreshQuotes(
  ports: Pick<Ports, 'db' | 'bus' | 'clock' | 'logger' | 'prices' | 'fees'>,
  lease: Lease,
): Promise<number> {
  const { db, bus, clock, prices, fees } = ports;
  const readings = await prices.read();
  const now = clock.now();
  const agreed = agreedRates(ports, assetSymbols, readings, now);
  const fiat = agreedRates(ports, foreignCurrencies, readings, now);
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    await saveRates(trx, [...agreed, ...fiat]);
    const costOf = (asset: AssetSymbol) => costIn(fees, asset);
    await saveFees(trx, changedFees(await feePolicies(trx), costOf, now));
  });
  failpoint('ledger.rates_saved');
  await publishQuotes(bus, (await allAssets(db)).map(quoteView));
  await publishFiatRates(bus, (await allFiatRates(db)).map(fiatRateView));
  failpoint('ledger.quotes_published');
  return agreed.length;
}

function agreedRates<S extends Rated>(
  { logger, prices }: Pick<Ports, 'logger' | 'prices'>,
  symbols: readonly S[],
  readings: readonly Reading[],
  now: Date,
): AgreedRate<S>[] {
  return symbols.flatMap((symbol) => {
    const said = readings.filter((reading) => reading.symbol === symbol);
    // A symbol nobody quotes at all (inactive assets and currencies in a small price file) is no news.
    if (said.length === 0) return [];
    const rate = agreeOnRate(symbol, said, now, prices.sourcesMin);
    if (rate.ok) return [rate.value];
    logger.warn({ symbol, refusal: rate.refusal }, 'the price sources give no rate, the last one ages');
    return [];
  });
}

/** What payouts says that a usual payout costs; of no use when it speaks of another chain than ours. */
function costIn(fees: Ports['fees'], asset: AssetSymbol): Units | undefined {
  const estimate = fees.fresh(asset, COST_AGE_MAX_MS);
  return estimate?.chain === assets[asset].chain ? units(estimate.native_cost) : undefined;
}
