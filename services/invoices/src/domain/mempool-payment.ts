import type { AssetSymbol } from '@quittance/shared/assets';
import type { InvoiceId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { Deposit } from './deposit.ts';

/** A payment that is in no block that counts: it may still be replaced or dropped. */
export type MempoolPayment = {
  /** As the deposit's will be. */
  outpoint: string;
  invoiceId: InvoiceId;
  asset: AssetSymbol;
  address: string;
  amount: Units;
  txHash: string;
  outputIndex: number;
  firstSeenAt: Date;
  /** When it was found to wait no more, and not to have come into a block either. */
  droppedAt: Date | null;
};

/**
 * What waits no more may have been evicted by one node, or lost by one that was killed, and still be with all others and
 * in the next block: so long, as far as the chain is known, its invoice stays open for it.
 */
export const AWAITED_AFTER_DROP_MS = 60 * 60_000;

/** All that was seen of an invoice's payments, in blocks and before. */
export type InvoicePayments = { deposits: readonly Deposit[]; mempoolPayments: readonly MempoolPayment[] };

/** Of an invoice's payments so many are shown, in answers, events and on its page; an event has to fit into a message. */
export const SHOWN_MAX = 100;
/** So many of them are the largest, that dust does not hide what was paid; the others are the newest. */
export const LARGEST_SHOWN = 50;

/** Those that are shown, in the order they were given in: the oldest first. */
export function shownOf({ deposits, mempoolPayments }: InvoicePayments, asset: AssetSymbol): InvoicePayments {
  const all = [...deposits, ...mempoolPayments];
  const largest = all
    .filter((one) => one.asset === asset)
    .sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
  const newest = all.reverse().sort((a, b) => b.firstSeenAt.getTime() - a.firstSeenAt.getTime());
  const shown = new Set([...new Set([...largest.slice(0, LARGEST_SHOWN), ...newest])].slice(0, SHOWN_MAX));
  return {
    deposits: deposits.filter((one) => shown.has(one)),
    mempoolPayments: mempoolPayments.filter((one) => shown.has(one)),
  };
}

/**
 * Each payment as it stands now, once: what lost its block and waits for another one is a sighting, what waits no more
 * is what it was before.
 */
export function currentPayments({ deposits, mempoolPayments }: InvoicePayments): InvoicePayments {
  const isOut = ({ state }: Deposit) => state === 'dropped' || state === 'reversed';
  const waiting = new Set(
    mempoolPayments.filter(({ droppedAt }) => droppedAt === null).map(({ outpoint }) => outpoint),
  );
  const shown = deposits.filter((deposit) => !(isOut(deposit) && waiting.has(deposit.outpoint)));
  const known = new Set(shown.map(({ outpoint }) => outpoint));
  return { deposits: shown, mempoolPayments: mempoolPayments.filter(({ outpoint }) => !known.has(outpoint)) };
}
