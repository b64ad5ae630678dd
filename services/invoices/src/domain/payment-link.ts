import type { AssetSymbol } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import { type AccountId, idForm, type PaymentLinkId, type Random } from '@quittance/shared/ids';
import type { Metadata } from '@quittance/shared/metadata';
import type { Cents } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';

/** What a merchant offers to any number of payers. Each payment of it is an invoice of its own. */
export type PaymentLink = {
  id: PaymentLinkId;
  account: AccountId;
  /** What is paid. */
  description: string;
  /** Of each invoice. */
  metadata: Metadata;
  /** Of the amounts, and of each invoice. */
  currency: Currency;
  /** Null: the payer says how much, within the limits. */
  amountFiat: Cents | null;
  amountMin: Cents | null;
  amountMax: Cents | null;
  /** One asset, or those that the payer may choose from. Both null: all that are offered at the time. */
  asset: AssetSymbol | null;
  assets: readonly AssetSymbol[] | null;
  /** Minutes, of each invoice; null: as the account has set it when the payment begins. */
  expiresIn: number | null;
  succeedUrl: string | null;
  timeoutUrl: string | null;
  validUntil: Date | null;
  /** How many of its invoices may be open at a time. */
  maxOpen: number;
  createdAt: Date;
  deactivatedAt: Date | null;
};

/** A link with the number of its invoices that are not paid and not expired. */
export type CountedLink = PaymentLink & { openInvoices: number };

export const MAX_OPEN_DEFAULT = 100;
export const MAX_OPEN_MAX = 10_000;

export const linkStatuses = ['active', 'expired', 'deactivated'] as const;
export type LinkStatus = (typeof linkStatuses)[number];

export function linkStatusOf(
  { validUntil, deactivatedAt }: Pick<PaymentLink, 'validUntil' | 'deactivatedAt'>,
  now: Date,
): LinkStatus {
  if (deactivatedAt !== null) return 'deactivated';
  return validUntil !== null && validUntil <= now ? 'expired' : 'active';
}

/** Why no payment of a link may begin now. */
export type LinkRefusal = 'ended' | 'full';

/** Whether one more payment of a link may begin. */
export function decidePayment(link: CountedLink, now: Date): Result<undefined, LinkRefusal> {
  if (linkStatusOf(link, now) !== 'active') return refuse('ended');
  return link.openInvoices < link.maxOpen ? ok(undefined) : refuse('full');
}

/** The limit of an open amount that an amount breaks. */
export function brokenLimit(
  { amountMin, amountMax }: Pick<PaymentLink, 'amountMin' | 'amountMax'>,
  amount: Cents,
): { rule: 'atLeast' | 'atMost'; limit: Cents } | undefined {
  if (amountMin !== null && amount < amountMin) return { rule: 'atLeast', limit: amountMin };
  if (amountMax !== null && amount > amountMax) return { rule: 'atMost', limit: amountMax };
  return undefined;
}

/** Names one filled-in form of a link, so that sending it twice creates one invoice. */
export const newAttempt = (random: Random): string => Buffer.from(random(16)).toString('base64url');

export const isAttempt = (text: string): boolean => /^[\w-]{22}$/.test(text);

/** Any other text names no link: the database need not be asked. */
const form = idForm('plink');
export const isPaymentLinkId = (text: string): text is PaymentLinkId => form.test(text);

/**
 * The amount that a payer typed, with a point before its decimals: "12,50" is 12.50, and "1.234,50" is 1234.50. One separator
 * before three digits may be of thousands or of decimals, so it is `ambiguous`. What is no amount stays as it is.
 */
export function typedAmount(typed: string): string | 'ambiguous' {
  const text = typed.trim();
  // Three digits that end with none of thousands are refused as too many decimals.
  if (/^\d+(?:,\d{3}|\.\d{2}0)$/.test(text)) return 'ambiguous';
  if (/^\d+,\d{1,2}$/.test(text)) return text.replace(',', '.');
  if (/^\d{1,3}(?:\.\d{3})+,\d{1,2}$/.test(text)) return text.replaceAll('.', '').replace(',', '.');
  return /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2}|,\d{3})$/.test(text) ? text.replaceAll(',', '') : text;
}
