import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import type { AccountId, InvoiceId } from '@quittance/shared/ids';
import type { Cents, Rate, Units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';

export const statuses = ['pending', 'confirmed', 'partially_paid', 'paid', 'expired'] as const;
export type Status = (typeof statuses)[number];

/**
 * Which status may follow which. As long as it is open, an invoice is what its payments make of it, and a
 * reorganisation of the chain may take payments away again; `paid` and `expired` are final.
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

/** What was agreed with the merchant when the invoice was made; never changes. */
export type InvoiceTerms = {
  id: InvoiceId;
  account: AccountId;
  externalId: string | null;
  asset: AssetSymbol;
  chain: Chain;
  amountFiat: Cents;
  usdRate: Rate;
  /** The quote with its sources, as it was locked. */
  quote: Quote;
  amountDue: Units;
  toleranceBps: number;
  minConfirmations: number;
  dust: Units;
  createdAt: Date;
  expiresAt: Date | null;
  succeedUrl: string | null;
  timeoutUrl: string | null;
  /** Canonical. */
  address: string;
  derivationIndex: number;
};

/** What its payments and the clock have made of it. */
export type Progress = {
  status: Status;
  pendingAmount: Units;
  paidAmount: Units;
  /** What was credited and the network took back, as far as it has not come back. */
  reversedAmount: Units;
  paidAt: Date | null;
  /** When it was decided that no money can make it paid any more. */
  closedAt: Date | null;
  announced: readonly string[];
};

export type Invoice = InvoiceTerms & Progress & { version: number };

/** An invoice as it begins. */
export const unpaid: Progress = {
  status: 'pending',
  pendingAmount: 0n as Units,
  paidAmount: 0n as Units,
  reversedAmount: 0n as Units,
  paidAt: null,
  closedAt: null,
  announced: ['invoice.created'],
};
