import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import { type AccountId, type InvoiceId, idForm, type PaymentLinkId } from '@quittance/shared/ids';
import type { Metadata } from '@quittance/shared/metadata';
import type { Cents, Rate, Units } from '@quittance/shared/money';
import type { FiatRate, Quote } from '@quittance/shared/quotes';

/** Any other text names no invoice: the database need not be asked. */
const form = idForm('inv');
export const isInvoiceId = (text: string): text is InvoiceId => form.test(text);

export const statuses = ['pending', 'confirmed', 'partially_paid', 'paid', 'expired'] as const;
export type Status = (typeof statuses)[number];

/**
 * Which status may follow which. While an invoice is open, its payments decide, and a reorganisation may take
 * payments away again; `paid` and `expired` are final.
 */
const moves = {
  pending: ['partially_paid', 'confirmed', 'paid', 'expired'],
  partially_paid: ['pending', 'confirmed', 'paid', 'expired'],
  confirmed: ['pending', 'partially_paid', 'paid', 'expired'],
  paid: [],
  expired: [],
} as const satisfies Record<Status, readonly Status[]>;

export const mayFollow = (from: Status, to: Status): boolean =>
  from === to || (moves[from] as readonly Status[]).includes(to);

/** The fixed terms of an invoice, set at creation. */
export type InvoiceTerms = {
  id: InvoiceId;
  account: AccountId;
  externalId: string | null;
  /** A text for the customer. */
  description: string | null;
  /** The merchant's own keys and texts. */
  metadata: Metadata;
  asset: AssetSymbol;
  chain: Chain;
  currency: Currency;
  /** In `currency`. */
  amountFiat: Cents;
  /** The locked rate of `currency` with its sources; null for US dollars. */
  fiatRate: FiatRate | null;
  /** Of the asset. */
  usdRate: Rate;
  /** The locked quote, with its sources. */
  quote: Quote;
  amountDue: Units;
  toleranceBps: number;
  minConfirmations: number;
  dust: Units;
  createdAt: Date;
  expiresAt: Date | null;
  /** When the merchant ended it: `expiresAt` is not later. */
  cancelledAt: Date | null;
  succeedUrl: string | null;
  timeoutUrl: string | null;
  /** The link that it was created by. */
  paymentLinkId: PaymentLinkId | null;
  /** Canonical. */
  address: string;
  derivationIndex: number;
};

/** The part of an invoice that its payments and the clock change. */
export type Progress = {
  status: Status;
  pendingAmount: Units;
  paidAmount: Units;
  /** The amount that was credited, then reversed, and is not in the chain again. */
  reversedAmount: Units;
  paidAt: Date | null;
  /** When it was closed unpaid: no further payment can make it paid. */
  closedAt: Date | null;
  reportedEvents: readonly string[];
};

export type Invoice = InvoiceTerms & Progress & { version: number };

/**
 * What is still to be paid: the amount due less what was seen. Nothing once that is enough within the tolerance, unless the chain
 * took a credited payment back.
 */
export function amountRemaining({
  status,
  amountDue,
  pendingAmount,
  paidAmount,
  reversedAmount,
}: Pick<Invoice, 'status' | 'amountDue' | 'pendingAmount' | 'paidAmount' | 'reversedAmount'>): Units {
  const isEnough = status === 'paid' || status === 'confirmed';
  const remaining = amountDue - pendingAmount - paidAmount;
  return ((isEnough && reversedAmount === 0n) || remaining < 0n ? 0n : remaining) as Units;
}

/** The state of a new invoice. */
export const unpaid: Progress = {
  status: 'pending',
  pendingAmount: 0n as Units,
  paidAmount: 0n as Units,
  reversedAmount: 0n as Units,
  paidAt: null,
  closedAt: null,
  reportedEvents: ['invoice.created'],
};
