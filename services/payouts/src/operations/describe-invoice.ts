import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Currency, currencies, currencyCodes } from '@quittance/shared/currencies';
import { Unavailable } from '@quittance/shared/http';
import type { AccountId, InvoiceId } from '@quittance/shared/ids';
import { ONE_DOLLAR, parseRate, type Rate, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { PaidInvoice } from '../domain/refund.ts';
import type { Ports } from '../ports.ts';

/** An invoice as the service of invoices has just described it. */
export type DescribedInvoice = PaidInvoice & {
  id: InvoiceId;
  account: AccountId;
  asset: AssetSymbol;
  status: string;
  currency: Currency;
  currencyDecimals: number;
};

/**
 * Asks invoices for the invoice; null when there is none. Of one that is not paid the ledger tells what of it is in the balance:
 * funds that came too late or were too little, and were accepted. Throws Unavailable without an answer: nothing was done.
 */
export async function describeInvoice(
  { bus }: Pick<Ports, 'bus'>,
  id: InvoiceId,
): Promise<DescribedInvoice | null> {
  const asked = await bus.ask('invoice.describe', { invoice_id: id });
  if (!asked.known) throw new Unavailable(`invoices did not describe an invoice: ${asked.reason}`);
  const { invoice } = asked.reply;
  if (invoice === null) return null;
  const { account_id, asset, status, fiat_rate } = invoice;
  const currency = currencyCodes.find((code) => code === invoice.currency);
  if (currency === undefined) throw new Unavailable(`an invoice has the currency ${invoice.currency}`);
  invariant(fiat_rate !== undefined || currency === 'USD', `invoice ${id} has the rate of its currency`);
  const paid = status === 'paid' ? invoice.paid_amount : await acceptedOf({ bus }, id, invoice);
  return {
    id,
    account: account_id as AccountId,
    asset,
    status,
    currency,
    currencyDecimals: currencies[currency].decimals,
    due: units(invoice.amount_due),
    paid: units(paid),
    decimals: assets[asset].decimals,
    rate: rateOf(invoice.usd_rate),
    fiatRate: fiat_rate === undefined ? ONE_DOLLAR : rateOf(fiat_rate),
  };
}

async function acceptedOf(
  { bus }: Pick<Ports, 'bus'>,
  id: InvoiceId,
  { account_id, asset }: { account_id: string; asset: AssetSymbol },
): Promise<string> {
  const asked = await bus.ask('accepted.read', { account_id, asset, invoice_id: id });
  if (!asked.known) throw new Unavailable(`the ledger did not tell what was accepted: ${asked.reason}`);
  return asked.reply.amount;
}

/** A rate as quotes and invoices tell it. */
export function rateOf(text: string): Rate {
  const rate = parseRate(text);
  invariant(rate.ok, `the rate ${text} has at most 18 decimals`);
  return rate.value;
}
