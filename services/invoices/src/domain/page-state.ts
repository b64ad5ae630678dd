import type { Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { confirmationsOf, type Deposit, isFinal, isInBlock } from './deposit.ts';
import { EXTENDED_MAX_MS } from './expiry-extension.ts';
import type { Invoice } from './invoice.ts';
import type { InvoicePayments, MempoolPayment } from './mempool-payment.ts';

/** The state of a payment as the customer sees it. */
export const pageStates = [
  'waiting',
  'short',
  'over',
  'seen',
  'confirming',
  'paid',
  'overpaid',
  'reversed',
  'expired',
  'cancelled',
  'late',
  'underpaid',
] as const;
export type PageState = (typeof pageStates)[number];

/** When a page is shown, and how the chain of its invoice is read then. */
type PageTime = { now: Date; syncedAt: Date | null; isLate: boolean };

/** @param refundedAmount what refunds take of the paid amount */
export function pageStateOf(
  invoice: Invoice,
  { deposits, mempoolPayments }: InvoicePayments,
  refundedAmount: Units,
  at: PageTime,
): PageState {
  const isOver =
    invoice.expiresAt !== null &&
    invoice.expiresAt < at.now &&
    !willBeExtended(invoice, invoice.expiresAt, at);
  switch (invoice.status) {
    case 'pending':
      return isOver ? 'over' : 'waiting';
    case 'partially_paid':
      if (invoice.closedAt !== null) return 'underpaid';
      return isOver ? 'over' : 'short';
    case 'confirmed':
      return mempoolPayments.some((one) => isWaiting(one) && counts(invoice, one)) ? 'seen' : 'confirming';
    case 'paid':
      if (invoice.reversedAmount > 0n) return 'reversed';
      return surplusOf(invoice, refundedAmount) === undefined ? 'paid' : 'overpaid';
    case 'expired':
      if (mempoolPayments.some(isWaiting) || deposits.some(isThere)) return 'late';
      return invoice.cancelledAt === null ? 'expired' : 'cancelled';
    default:
      return assertNever(invoice.status);
  }
}

/** An outage that lasts extends what had not ended before it (expiry-extension.ts). */
const willBeExtended = (
  { cancelledAt }: Invoice,
  expiresAt: Date,
  { now, syncedAt, isLate }: PageTime,
): boolean =>
  isLate &&
  cancelledAt === null &&
  (syncedAt === null || syncedAt <= expiresAt) &&
  now.getTime() - expiresAt.getTime() <= EXTENDED_MAX_MS;

export const isWaiting = ({ droppedAt }: MempoolPayment): boolean => droppedAt === null;
export const isThere = ({ state }: Deposit): boolean => state !== 'dropped' && state !== 'reversed';
const counts = ({ asset, dust }: Invoice, payment: Pick<Deposit, 'asset' | 'amount'>): boolean =>
  payment.asset === asset && payment.amount >= dust;

/** What was seen of the amount due. Once it is paid, only what is confirmed: more may be on the way. */
export const amountSeen = ({ status, pendingAmount, paidAmount }: Invoice): Units =>
  (status === 'paid' ? paidAmount : pendingAmount + paidAmount) as Units;

/** How much more than due that is; undefined when it is nothing to speak of, or when a refund has taken of it. */
export function surplusOf(invoice: Invoice, refundedAmount: Units): Units | undefined {
  const surplus = (amountSeen(invoice) - invoice.amountDue) as Units;
  return surplus > 0n && surplus >= invoice.dust && refundedAmount === 0n ? surplus : undefined;
}

/** How far a payment is: of the deposit that needs most blocks. Undefined while none is in a block, or one is held. */
export function confirmationProgress(
  invoice: Invoice,
  deposits: readonly Deposit[],
  height: number,
): { confirmations: number; needed: number } | undefined {
  const counted = deposits.filter((deposit) => isInBlock(deposit) && counts(invoice, deposit));
  if (counted.some(({ isHeld }) => isHeld)) return undefined;
  const open = counted.map((deposit) => ({
    needed: deposit.minConfirmations,
    confirmations: isFinal(deposit, height) ? deposit.minConfirmations : confirmationsOf(deposit, height),
  }));
  open.sort((a, b) => b.needed - b.confirmations - (a.needed - a.confirmations));
  return open[0];
}

/** How long no block was read before customers are told: a scan that takes some seconds is no outage. */
const DELAY_SHOWN_AFTER_MS = 30_000;

/** Whether a chain is read late, so that payments are seen later than usual. */
export const isReadLate = (syncedAt: Date | null, now: Date, outageMs: number): boolean =>
  syncedAt === null || now.getTime() - syncedAt.getTime() > lateAfterMs(outageMs);

export const lateAfterMs = (outageMs: number): number => Math.max(outageMs, DELAY_SHOWN_AFTER_MS);
