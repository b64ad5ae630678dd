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

/** An address that is given out later than this before the end of an invoice would end while its payer looks at it. */
const LAST_CHOICE_BEFORE_END_MS = 60_000;

/** How long before its end nothing can be chosen any more: a minute, and half the time of an invoice of less than two. */
export const choiceMarginMs = ({ createdAt, expiresAt }: Pick<UnchosenInvoice, 'createdAt' | 'expiresAt'>) =>
  expiresAt === null
    ? 0
    : Math.min(LAST_CHOICE_BEFORE_END_MS, Math.ceil((expiresAt.getTime() - createdAt.getTime()) / 2));

/** Null: never. */
export const choiceEndsAt = (invoice: Pick<UnchosenInvoice, 'createdAt' | 'expiresAt'>): Date | null =>
  invoice.expiresAt && new Date(invoice.expiresAt.getTime() - choiceMarginMs(invoice));

type ChoiceTime = 'open' | 'too_late' | 'expired';

/** Whether the payer may still choose. */
export function choiceTimeOf(
  invoice: Pick<UnchosenInvoice, 'status' | 'createdAt' | 'expiresAt'>,
  now: Date,
): ChoiceTime {
  const { status, expiresAt } = invoice;
  if (status !== 'pending' || (expiresAt !== null && expiresAt <= now)) return 'expired';
  const last = choiceEndsAt(invoice);
  return last !== null && last <= now ? 'too_late' : 'open';
}

export type ChoiceRefusal = Exclude<ChoiceTime, 'open'> | 'not_offered' | 'too_small';

/** Whether the payer may choose this asset. `text` is what the payer sent. */
export function decideChoice(
  invoice: Pick<UnchosenInvoice, 'status' | 'createdAt' | 'expiresAt' | 'assets'>,
  text: string,
  now: Date,
): Result<AssetSymbol, Exclude<ChoiceRefusal, 'too_small'>> {
  const time = choiceTimeOf(invoice, now);
  if (time !== 'open') return refuse(time);
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
