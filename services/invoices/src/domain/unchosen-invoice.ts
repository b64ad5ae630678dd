import type { AssetSymbol } from '@quittance/shared/assets';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { Cancellation, CancelRefusal } from './cancellation.ts';
import { earlier } from './deposit.ts';
import type { InvoiceTerms } from './invoice.ts';

/** An invoice whose payer has not chosen the asset yet. No payment can arrive for it: it has no address. */
export type UnchosenInvoice = Pick<
  InvoiceTerms,
  | 'id'
  | 'account'
  | 'externalId'
  | 'description'
  | 'metadata'
  | 'currency'
  | 'amountFiat'
  | 'toleranceBps'
  | 'createdAt'
  | 'expiresAt'
  | 'cancelledAt'
  | 'succeedUrl'
  | 'timeoutUrl'
  | 'paymentLinkId'
> & {
  /** Those that the payer may choose from. */
  assets: readonly AssetSymbol[];
  status: 'pending' | 'expired';
  version: number;
};

/** The version of every invoice right after the choice: nothing but its end changes it before. */
export const CHOSEN_VERSION = 2;

/** Whether the payer may still choose. */
export const isChoosable = (
  { status, expiresAt }: Pick<UnchosenInvoice, 'status' | 'expiresAt'>,
  now: Date,
): boolean => status === 'pending' && (expiresAt === null || expiresAt > now);

export type ChoiceRefusal = 'expired' | 'not_offered' | 'too_small';

/** Whether the payer may choose this asset. `text` is what the payer sent. */
export function decideChoice(
  invoice: Pick<UnchosenInvoice, 'status' | 'expiresAt' | 'assets'>,
  text: string,
  now: Date,
): Result<AssetSymbol, Exclude<ChoiceRefusal, 'too_small'>> {
  if (!isChoosable(invoice, now)) return refuse('expired');
  const asset = invoice.assets.find((one) => one === text);
  return asset === undefined ? refuse('not_offered') : ok(asset);
}

/** Cancels an invoice before the choice. Undefined: it was cancelled before. */
export function decideUnchosenCancellation(
  { status, expiresAt, cancelledAt }: Pick<UnchosenInvoice, 'status' | 'expiresAt' | 'cancelledAt'>,
  now: Date,
): Result<Cancellation | undefined, CancelRefusal> {
  if (cancelledAt !== null) return ok(undefined);
  if (status === 'expired') return refuse('expired');
  return ok({ cancelledAt: now, expiresAt: expiresAt === null ? now : earlier(expiresAt, now) });
}
