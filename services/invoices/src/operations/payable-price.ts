import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Currency, currencies } from '@quittance/shared/currencies';
import { type Cents, formatCents, parseRate, type Rate, units, unitsToFiat } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { invariant } from '@quittance/shared/result';
import { attributeOf, type FieldErrors, messages } from '@quittance/shared/validation';
import type { Ports } from '../ports.ts';
import { amountDueOf } from './lock-asset.ts';

/** Whether a price can be paid in an asset: a payment below its smallest amount is not credited. */
export const isPayable = (asset: AssetSymbol, amountFiat: Cents, quote: Quote, fiatRate: Rate): boolean =>
  amountDueOf(asset, amountFiat, quote, fiatRate).amountDue >= units(quote.dust);

/**
 * What is wrong with a price that can be paid in none of these assets. Undefined when it can be paid, and when that is not known
 * because one of them has no fresh rate.
 */
export function unpayableProblem(
  { quotes }: Pick<Ports, 'quotes'>,
  name: string,
  price: Cents,
  offered: readonly AssetSymbol[],
  { currency, rate }: { currency: Currency; rate: Rate },
): FieldErrors | undefined {
  const leasts: Cents[] = [];
  for (const asset of offered) {
    const quote = quotes.fresh(asset);
    if (quote === undefined || isPayable(asset, price, quote, rate)) return undefined;
    leasts.push(leastPrice(asset, quote, { currency, rate }));
  }
  const [least] = leasts.sort((a, b) => (a < b ? -1 : 1));
  if (least === undefined) return undefined;
  const text = formatCents(least);
  const hint = `Less is below the smallest payment that is credited in ${offered.join(', ')}: give ${text} or more, or offer another asset.`;
  return { [name]: [messages.atLeast(attributeOf(name), text, hint)] };
}

/** The least price whose amount due is the smallest payment that is credited. */
function leastPrice(
  asset: AssetSymbol,
  quote: Quote,
  { currency, rate }: { currency: Currency; rate: Rate },
): Cents {
  const usdRate = parseRate(quote.usd_rate);
  invariant(usdRate.ok, 'a quote has a rate');
  const priced = { rate: usdRate.value, decimals: assets[asset].decimals };
  return unitsToFiat(units(quote.dust), priced, { rate, decimals: currencies[currency].decimals }, 'up');
}
