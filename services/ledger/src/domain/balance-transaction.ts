import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Posting, ReleaseReason } from './posting.ts';

/** What moved a merchant's available balance, in the words of the API. */
export const transactionTypes = [
  'payment',
  'payment_reversal',
  'payment_recovery',
  'unresolved_accepted',
  'payout',
  'payout_failed',
  'payout_voided',
  'refund',
  'refund_failed',
  'refund_voided',
] as const;
export type TransactionType = (typeof transactionTypes)[number];

/** A settled hold leaves the available balance as it is, and network costs have no merchant. */
type MovingKind = Exclude<Posting['kind'], 'settle' | 'network'>;

const typeOfKind = {
  deposit: 'payment',
  reversal: 'payment_reversal',
  recovery: 'payment_recovery',
  accept: 'unresolved_accepted',
  hold: 'payout',
} as const satisfies Record<Exclude<MovingKind, 'release'>, TransactionType>;

const typeOfRelease = {
  failed: 'payout_failed',
  failed_fee_kept: 'payout_failed',
  voided: 'payout_voided',
} as const satisfies Record<ReleaseReason, TransactionType>;

/** The types of payouts, and what they are called of a payout that refunds. */
const typeOfRefund = {
  payout: 'refund',
  payout_failed: 'refund_failed',
  payout_voided: 'refund_voided',
} as const satisfies Partial<Record<TransactionType, TransactionType>>;
type PayoutType = keyof typeof typeOfRefund;

const isOfPayout = (type: TransactionType): type is PayoutType => Object.hasOwn(typeOfRefund, type);

/** A transfer's kind, of a release its reason, and whether its payout refunds an invoice or a deposit. */
export type TransferKind = { kind: string; detail: string; isRefund: boolean };

export function typeOf({ kind, detail, isRefund }: TransferKind): TransactionType {
  const type =
    kind === 'release' ? typeOfRelease[detail as ReleaseReason] : typeOfKind[kind as keyof typeof typeOfKind];
  invariant(type !== undefined, `a transfer of kind ${kind} has a type in the API`);
  return isRefund && isOfPayout(type) ? typeOfRefund[type] : type;
}

/** The transfers of a type: their kind, which reasons releases have, and whether they are of refunds. Null: it does not matter. */
export type Movements = { kind: string; reasons: string[] | null; isRefund: boolean | null };

export function movementsOf(wanted: TransactionType): Movements {
  const ofPayout = Object.entries(typeOfRefund).find(([, refund]) => refund === wanted)?.[0];
  const type = ofPayout ?? wanted;
  const isRefund = isOfPayout(type as TransactionType) ? ofPayout !== undefined : null;
  const reasons = Object.entries(typeOfRelease).flatMap(([reason, one]) => (one === type ? [reason] : []));
  if (reasons.length > 0) return { kind: 'release', reasons, isRefund };
  const kind = Object.entries(typeOfKind).find(([, one]) => one === type)?.[0];
  invariant(kind !== undefined, `the type ${type} has a kind of transfer`);
  return { kind, reasons: null, isRefund };
}

/** The network fee within a movement: a hold takes it, and a release gives it back unless the chain took it. */
function feeOf({ kind, detail }: Pick<TransferKind, 'kind' | 'detail'>, networkFee: Units): Units {
  if (kind === 'hold') return networkFee;
  const givenBack = kind === 'release' && detail !== ('failed_fee_kept' satisfies ReleaseReason);
  return units(givenBack ? -networkFee : 0n);
}

/** What the balance changed by, in two parts: `net` is `amount` less `fee`. */
export function partsOf(
  movement: Pick<TransferKind, 'kind' | 'detail'>,
  net: Units,
  networkFee: Units,
): { amount: Units; fee: Units } {
  const fee = feeOf(movement, networkFee);
  return { amount: units(net + fee), fee };
}

/**
 * A transaction's id is its transfer's op, which names the cause and never changes. It is opaque to clients, and tells nothing
 * of how many transfers there are.
 */
export const transactionIdOf = (op: string): string => `txn_${op.replaceAll(':', '-')}`;

/** The op of a transaction's id; undefined where it is none. */
export const opOf = (id: string): string | undefined =>
  /^txn_[a-z]+-[\w-]+$/.test(id) ? id.slice('txn_'.length).replaceAll('-', ':') : undefined;

/** What caused a transaction. A payment's invoice is not known of old deposits: then the deposit is named. */
export type Source = { type: 'invoice' | 'deposit'; id: string } | { type: 'payout'; id: string };

/** The payout of a transaction; null where it has none. */
export const payoutOf = (kind: string, op: string): string | null =>
  kind === 'hold' || kind === 'release' ? (op.split(':')[1] ?? null) : null;

/**
 * @param invoice of a payment
 * @param refunded what a refund pays back: the id of an invoice, or of an unresolved deposit
 */
export function sourceOf(kind: string, op: string, invoice: string | null, refunded: string | null): Source {
  if (refunded !== null) return { type: refunded.startsWith('inv_') ? 'invoice' : 'deposit', id: refunded };
  const payout = payoutOf(kind, op);
  if (payout !== null) return { type: 'payout', id: payout };
  // Merchants know an unresolved deposit by its own id.
  const id = op.split(':')[1] ?? '';
  return invoice === null || kind === 'accept' ? { type: 'deposit', id } : { type: 'invoice', id: invoice };
}

/** A source that a list is filtered by; undefined where the text is no id of one. */
export function parseSource(text: string): Source | undefined {
  if (/^\d{1,16}$/.test(text)) return { type: 'payout', id: text };
  if (/^inv_\w+$/.test(text)) return { type: 'invoice', id: text };
  return /^dep_\w+$/.test(text) ? { type: 'deposit', id: text } : undefined;
}
