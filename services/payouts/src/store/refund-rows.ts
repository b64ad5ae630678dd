import type { AssetSymbol } from '@quittance/shared/assets';
import type { Currency } from '@quittance/shared/currencies';
import type { AccountId, AssertionId, InvoiceId, PayoutId, RefundId } from '@quittance/shared/ids';
import type { Metadata } from '@quittance/shared/metadata';
import type { Cents, Units } from '@quittance/shared/money';
import type { FiatRate, Quote } from '@quittance/shared/quotes';
import type { RefundState } from '../domain/refund.ts';

/** Rates in US dollars with their sources, in the form of an invoice's locked rates. */
export type RatesNow = {
  currency: Pick<FiatRate, 'usd_rate' | 'sources'> & { code: Currency; as_of: string | null };
  asset: Pick<Quote, 'usd_rate' | 'as_of' | 'sources'> & { symbol: AssetSymbol };
};

export type StoredRefund = {
  id: RefundId;
  account: AccountId;
  /** What is refunded: an invoice, or an unresolved deposit. */
  invoiceId: InvoiceId | null;
  depositId: string | null;
  asset: AssetSymbol;
  share: Units;
  amount: Units;
  /** As the merchant asked: `all`, `surplus`, an amount in the invoice's currency; of a deposit `deposit`, or an
   * amount of its asset. */
  requested: string;
  rate: 'then' | 'now';
  /** The currency of its invoice, and what it is worth in it. Null of deposits, and of refunds of older releases. */
  currency: Currency | null;
  worth: Cents | null;
  /** What it was computed with at the rate `now`; null at the rate `then`, and of refunds of older releases. */
  ratesNow: RatesNow | null;
  state: RefundState;
  /** Of its claim link; null when the merchant gave the address. */
  expiresAt: Date | null;
  /** Since when the balance does not cover it, as the first claim has found; null when no claim has. */
  unfundedSince: Date | null;
  payoutId: PayoutId | null;
  externalId: string | null;
  metadata: Metadata;
  version: number;
  createdAt: Date;
  /** Of the request that has asked for it; null of one of a former release. */
  assertionId: AssertionId | null;
};

/** `claimHash`: the SHA-256 of the token of its claim link. */
export type NewRefund = Omit<StoredRefund, 'version' | 'unfundedSince'> & {
  assertionId: AssertionId;
  claimHash: Buffer | null;
};

const names = [
  'id',
  'account_id as account',
  'invoice_id',
  'deposit_id',
  'asset',
  'share',
  'amount',
  'requested',
].concat([
  'rate',
  'rates_now',
  'currency',
  'worth_cents as worth',
  'state',
  'expires_at',
  'unfunded_since',
  'payout_id',
  'external_id',
  'metadata',
  'version',
  'created_at',
  'assertion_id',
]);
/** The columns of a refund, of the relation `of`. `payoutId`: what stands for the column of that name. */
export const refundColumns = (of = 'refunds', payoutId = `${of}.payout_id`): string =>
  names.map((name) => (name === 'payout_id' ? `${payoutId} as payout_id` : `${of}.${name}`)).join(', ');
