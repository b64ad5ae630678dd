import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import type { LockedFiatRate } from '@quittance/shared/fiat-rate';
import { Unavailable } from '@quittance/shared/http';
import { type Cents, fiatToUnits, parseRate, type Rate, units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import type { InvoiceTerms } from '../domain/invoice.ts';
import { type Ports, watched } from '../ports.ts';

/** What an invoice has from the choice of its asset on. */
type LockedAsset = Pick<
  InvoiceTerms,
  | 'asset'
  | 'chain'
  | 'fiatRate'
  | 'usdRate'
  | 'quote'
  | 'amountDue'
  | 'minConfirmations'
  | 'dust'
  | 'address'
  | 'derivationIndex'
>;

/** The amount due of a price at the rates of its currency and of a quote, rounded up. */
export function amountDueOf(asset: AssetSymbol, amountFiat: Cents, quote: Quote, fiatRate: Rate) {
  const usdRate = parseRate(quote.usd_rate);
  invariant(usdRate.ok, 'a quote has a rate');
  const amountDue = fiatToUnits(amountFiat, fiatRate, usdRate.value, assets[asset].decimals, 'up');
  return { usdRate: usdRate.value, amountDue };
}

/** Locks the rates of a quote and a currency, and takes an unused address. Throws Unavailable when none may be given out. */
export async function lockAsset(
  { chains }: Pick<Ports, 'chains'>,
  {
    asset,
    amountFiat,
    quote,
    fiat,
  }: { asset: AssetSymbol; amountFiat: Cents; quote: Quote; fiat: LockedFiatRate },
): Promise<LockedAsset> {
  const { chain } = assets[asset];
  const { keys, addresses } = watched(chains, chain);
  if (keys?.status.problem !== undefined) throw new Unavailable(keys.status.problem.reason);
  const { address, derivationIndex } = await addresses.take();
  failpoint('invoices.address_taken');
  return {
    asset,
    chain,
    fiatRate: fiat.stored,
    ...amountDueOf(asset, amountFiat, quote, fiat.rate),
    quote,
    minConfirmations: quote.min_confirmations,
    dust: units(quote.dust),
    address,
    derivationIndex,
  };
}
