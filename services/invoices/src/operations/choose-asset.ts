import { failpoint } from '@quittance/shared/failpoint';
import { freshFiatRate, noFiatRate } from '@quittance/shared/fiat-rate';
import { Unavailable } from '@quittance/shared/http';
import { type InvoiceId, newEventId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { unpaid } from '../domain/invoice.ts';
import {
  CHOSEN_VERSION,
  type ChoiceRefusal,
  choiceMarginMs,
  decideChoice,
} from '../domain/unchosen-invoice.ts';
import { type Ports, watched } from '../ports.ts';
import { nothingPaid } from '../store/invoice-reads.ts';
import { saveChosenInvoice } from '../store/invoices.ts';
import { findUnchosen, takeUnchosen } from '../store/unchosen-invoices.ts';
import { invoiceView } from '../views.ts';
import { lockAsset } from './lock-asset.ts';
import { isOffered } from './offered-assets.ts';
import { isPayable } from './payable-price.ts';

type ChoosePorts = Pick<Ports, 'db' | 'clock' | 'random' | 'quotes' | 'fiatRates' | 'chains' | 'settings'>;

/**
 * Gives an invoice the asset that its payer chose: the rates of the asset and the currency are locked now, and an address is
 * taken. The row moves from one table to the other in one transaction, so of several choices, an expiry and a cancellation
 * exactly one takes place; where another one was faster, this changes nothing. Throws Unavailable when one of the rates is not
 * fresh or there is no address: nothing is written then. Throws UnknownOutcome when the answer to the commit was lost: reading
 * the invoice shows what became of it, and repeating the choice chooses once.
 * @param text the asset as the payer sent it
 * @returns whether it was this choice that took place
 */
export async function chooseAsset(
  ports: ChoosePorts,
  { id, text, requestId }: { id: InvoiceId; text: string; requestId: string },
): Promise<Result<boolean, ChoiceRefusal>> {
  const unchosen = await findUnchosen(ports.db, id);
  if (unchosen === undefined) return ok(false);
  const decided = decideChoice(unchosen, text, ports.clock.now());
  if (!decided.ok) return refuse(decided.refusal);
  const asset = decided.value;
  const quote = isOffered(ports, asset) ? ports.quotes.fresh(asset) : undefined;
  if (quote === undefined) throw new Unavailable(`${asset} is switched off or has no fresh rate`);

  const fiat = freshFiatRate(ports, unchosen.currency);
  if (fiat === undefined) throw noFiatRate(unchosen.currency);

  // No payment of the amount due would be credited.
  if (!isPayable(asset, unchosen.amountFiat, quote, fiat.rate)) return refuse('too_small');

  const locked = await lockAsset(ports, { asset, amountFiat: unchosen.amountFiat, quote, fiat });
  const now = ports.clock.now();
  // Taking the address may have lasted into the last minute.
  const endsAfter = new Date(now.getTime() + choiceMarginMs(unchosen));
  const { assets: _, ...terms } = unchosen;
  const invoice = { ...terms, ...locked, ...unpaid, version: CHOSEN_VERSION };
  const data = invoiceView({ invoice, ...nothingPaid, height: 0 }, ports);
  const payload = { account_id: invoice.account, resource_id: id, version: invoice.version, data };
  const isTaken = await ports.db.transaction(async (trx) => {
    if (!(await takeUnchosen(trx, id, { endsAfter, asset, now }))) return false;
    await saveChosenInvoice(trx, {
      invoice,
      event: { id: newEventId(now, ports.random), payload, requestId },
      watchBalance: watched(ports.chains, invoice.chain).reader.balances !== undefined,
      addressGivenAt: now,
    });
    failpoint('invoices.asset_choosing');
    return true;
  });
  if (isTaken) failpoint('invoices.asset_chosen');
  return ok(isTaken);
}
