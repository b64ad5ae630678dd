import { assets } from '@quittance/shared/assets';
import { Unavailable } from '@quittance/shared/http';
import { formatUnits, units } from '@quittance/shared/money';
import type { QuoteBoard } from '@quittance/shared/quotes';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, form, messages, rules } from '@quittance/shared/validation';
import {
  ADDRESS_CHARACTERS_MAX,
  checkRecipient,
  type PayableChains,
  type PayoutOrder,
} from './payout-order.ts';
import type { Unresolved } from './store-holdings.ts';

const fields = form({ address: rules.text(ADDRESS_CHARACTERS_MAX).required });

/**
 * Reads to whom unresolved money goes back: all of it, less the network fee. Throws Unavailable when the body is right
 * but the fee, or the chain, is not known now.
 */
export function readReturnOrder(
  body: unknown,
  { asset, amount }: Unresolved,
  { quotes, chains }: { quotes: Pick<QuoteBoard, 'latest' | 'fresh'>; chains: PayableChains },
): Result<PayoutOrder, FieldErrors> {
  const { chain, decimals } = assets[asset];
  const on = chains.get(chain);
  const latest = quotes.latest(asset);
  if (on?.assets.includes(asset) !== true) throw new Unavailable(`${asset} cannot be paid out`);

  const errors: FieldErrors = {};
  const given = fields(body);
  const address = given.ok ? checkRecipient(on, given.value.address) : undefined;
  if (!given.ok) Object.assign(errors, given.refusal);
  else if (address === undefined) errors['address'] = [messages.invalid('address')];
  if (latest !== undefined) {
    const dust = units(latest.dust);
    const least = units(units(latest.network_fee) + (dust > 0n ? dust : 1n));
    // What is left after the fee must be worth sending.
    if (amount < least) errors['amount'] = [messages.atLeast('amount', formatUnits(least, decimals))];
  }
  if (Object.keys(errors).length > 0 || address === undefined) return refuse(errors);

  const quote = quotes.fresh(asset);
  if (quote === undefined) throw new Unavailable(`there is no fresh quote of ${asset}`);
  const networkFee = units(quote.network_fee);
  return ok({
    asset,
    amount: units(amount - networkFee),
    address,
    networkFee,
    minConfirmations: quote.min_confirmations,
  });
}
