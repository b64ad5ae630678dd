import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { Unavailable } from '@quittance/shared/http';
import { type Cents, parseRate, units, usdToUnits } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import type { InvoiceTerms } from '../domain/invoice.ts';
import { type Ports, watched } from '../ports.ts';

/** What an invoice has by its asset. */
type LockedAsset = Pick<
  InvoiceTerms,
  | 'asset'
  | 'chain'
  | 'usdRate'
  | 'quote'
  | 'amountDue'
  | 'minConfirmations'
  | 'dust'
  | 'address'
  | 'derivationIndex'
>;

/** The amount due of dollars at the rate of a quote, rounded up. */
export function amountDueOf(asset: AssetSymbol, amountFiat: Cents, quote: Quote) {
  const usdRate = parseRate(quote.usd_rate);
  invariant(usdRate.ok, 'a quote has a rate');
  const amountDue = usdToUnits(amountFiat, usdRate.value, assets[asset].decimals, 'up');
  return { usdRate: usdRate.value, amountDue };
}

/** Locks the rate of a quote and takes an unused address. Throws Unavailable when none may be given out. */
export async function lockAsset(
  { chains }: Pick<Ports, 'chains'>,
  { asset, amountFiat, quote }: { asset: AssetSymbol; amountFiat: Cents; quote: Quote },
): Promise<LockedAsset> {
  const { chain } = assets[asset];
  const { keys, addresses } = watched(chains, chain);
  if (keys?.status.problem !== undefined) throw new Unavailable(keys.status.problem.reason);
  const { address, derivationIndex } = await addresses.take();
  failpoint('invoices.address_taken');
  return {
    asset,
    chain,
    ...amountDueOf(asset, amountFiat, quote),
    quote,
    minConfirmations: quote.min_confirmations,
    dust: units(quote.dust),
    address,
    derivationIndex,
  };
}
