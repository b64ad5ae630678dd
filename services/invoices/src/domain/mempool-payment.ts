import type { AssetSymbol } from '@quittance/shared/assets';
import type { Deposit } from './deposit.ts';

/** A payment in the mempool: it may still be replaced or dropped. Its deposit will have the same outpoint. */
export type MempoolPayment = Pick<
  Deposit,
  'outpoint' | 'invoiceId' | 'asset' | 'address' | 'amount' | 'outputIndex' | 'firstSeenAt'
> & {
  txHash: string;
  /** When it was found to have left the mempool without being in a block. */
  droppedAt: Date | null;
};

/**
 * How long an invoice stays open for a dropped payment, by the known time of its chain: another node may still have
 * the payment and mine it.
 */
export const AWAITED_AFTER_DROP_MS = 60 * 60_000;

/** The payments of an invoice, in blocks and in the mempool. */
export type InvoicePayments = { deposits: readonly Deposit[]; mempoolPayments: readonly MempoolPayment[] };

/** How many payments of an invoice answers, events and its page show: an event must fit into a message. */
export const SHOWN_MAX = 100;
/** How many of them are the largest, so that dust does not hide real payments. The others are the newest. */
export const LARGEST_SHOWN = 50;

/** The payments that are shown, in the given order: the oldest first. */
export function shownOf(
  { deposits, mempoolPayments }: InvoicePayments,
  asset: AssetSymbol,
  { max, largest: largestMax } = { max: SHOWN_MAX, largest: LARGEST_SHOWN },
): InvoicePayments {
  const all = [...deposits, ...mempoolPayments];
  const largest = all
    .filter((one) => one.asset === asset)
    .sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
  const newest = all.reverse().sort((a, b) => b.firstSeenAt.getTime() - a.firstSeenAt.getTime());
  const shown = new Set([...new Set([...largest.slice(0, largestMax), ...newest])].slice(0, max));
  return {
    deposits: deposits.filter((one) => shown.has(one)),
    mempoolPayments: mempoolPayments.filter((one) => shown.has(one)),
  };
}
