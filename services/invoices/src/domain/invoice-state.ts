import type { UnresolvedReason } from '@quittance/shared/events';
import { lessTolerance, sum, type Units } from '@quittance/shared/money';
import type { Deposit, Disposition } from './deposit.ts';
import type { Invoice, Progress, Status } from './invoice.ts';

/** The state of an invoice's chain. */
export type ChainView = {
  /** The height of the cursor. */
  height: number;
  /** All payments up to this time are known; null: nothing is known yet. */
  knownUntil: Date | null;
};

/**
 * The input of the state table: totals over any number of payments. The sums count payments in the invoice's asset
 * that are at least the dust limit, and that are in the chain or may come back to it. Postgres computes them
 * (store/payments.ts).
 */
export type PaymentTotals = {
  timelyFinal: Units;
  timelyPending: Units;
  /** The part of the timely payments that the ledger has credited. */
  timelyCredited: Units;
  lateFinal: Units;
  latePending: Units;
  /** In the mempool. */
  timelyWaiting: Units;
  lateWaiting: Units;
  /** Credited, reversed, and not in the chain again. */
  reversed: Units;
  /** A timely payment was dropped or is in the mempool: the invoice is not closed. */
  isAwaited: boolean;
  /** How many are final without a disposition: those that count, and those that do not. */
  unsettled: number;
  unsettledUncounted: number;
  /** Settled and given up: the ledger must be told. */
  lost: number;
  /** A payment was reversed and the merchant was not told. */
  isReversalUnreported: boolean;
  /** A payment in the chain that was in time, or late, was not reported as late. */
  isTimelyUnreported: boolean;
  isLateUnreported: boolean;
};

/** The events about an invoice that merchants receive. */
export type InvoiceEvent =
  | 'invoice.partially_paid'
  | 'invoice.confirmed'
  | 'invoice.paid'
  | 'invoice.expired'
  | 'invoice.underpaid'
  | 'invoice.overpaid'
  | 'invoice.late_payment'
  | 'invoice.payment_reversed';

/** The disposition of final payments; null: not decided yet. */
export type Destinations = { counted: Disposition | null; uncounted: 'unresolved' };

export type InvoiceState = Progress & {
  /** For payments that are final and not settled. */
  destinations: Destinations;
  events: readonly InvoiceEvent[];
};

export type InvoiceFacts = Pick<
  Invoice,
  | 'asset'
  | 'amountDue'
  | 'toleranceBps'
  | 'dust'
  | 'expiresAt'
  | 'cancelledAt'
  | 'status'
  | 'paidAt'
  | 'closedAt'
  | 'reportedEvents'
>;

/**
 * The state table: the state of an invoice by its payments, its chain and the clock. Final decisions come in with the
 * invoice (`paid`, `closedAt`, `reportedEvents`) and with its payments (settled, credited, reported). A mempool payment
 * counts as seen, but decides nothing that cannot be undone.
 */
export function computeInvoiceState(
  invoice: InvoiceFacts,
  paid: PaymentTotals,
  { knownUntil }: Pick<ChainView, 'knownUntil'>,
  now: Date,
): InvoiceState {
  const need = lessTolerance(invoice.amountDue, invoice.toleranceBps);
  const inChain = sum([paid.timelyFinal, paid.timelyPending]);
  const seen = sum([inChain, paid.timelyWaiting]);
  const isOpen = invoice.status !== 'paid' && invoice.closedAt === null;
  const covered = isOpen ? seen >= need : invoice.status === 'paid';
  const coveredByBlocks = isOpen ? inChain >= need : covered;
  const coveredForGood = isOpen ? paid.timelyFinal >= need : covered;

  // A dropped payment usually returns within a few blocks, a mempool payment is mined or replaced, and a payment that
  // vanished may come back: an invoice is not closed while one is awaited.
  const isKnownToExpire = invoice.expiresAt !== null && knownUntil !== null && knownUntil > invoice.expiresAt;
  // A cancelled invoice is closed at once: a payment that is not seen yet comes late.
  const over = (isKnownToExpire || invoice.cancelledAt !== null) && !paid.isAwaited;

  const isPaid = covered && paid.timelyCredited >= need;
  const status = statusOf({ invoice, isOpen, covered, isPaid, over, seen });
  const closedAt = isOpen && over && !covered ? now : invoice.closedAt;
  const isClosed = closedAt !== null;

  // Once the amount due is covered, every further payment is credited too, late or not. An expired invoice counts
  // nothing.
  const nothing = 0n as Units;
  const [final, pending] = covered
    ? [
        sum([paid.timelyFinal, paid.lateFinal]),
        sum([paid.timelyPending, paid.latePending, paid.timelyWaiting, paid.lateWaiting]),
      ]
    : status === 'expired'
      ? [nothing, nothing]
      : [paid.timelyFinal, sum([paid.timelyPending, paid.timelyWaiting])];
  const arrived = sum([inChain, paid.lateFinal, paid.latePending]);

  const telling = eventCollector(invoice.reportedEvents);
  if (paid.isReversalUnreported) telling.reversal();
  // A payment after a reversal is reported again: the last event said that it is gone.
  if (status === 'partially_paid' && invoice.status === 'pending') {
    telling.once('invoice.partially_paid', telling.reversals());
  }
  if (coveredByBlocks) telling.once('invoice.confirmed');
  // Reported once per total: each payment beyond the amount due changes the balance.
  if (coveredByBlocks && arrived > invoice.amountDue) telling.once('invoice.overpaid', String(arrived));
  if (status === 'paid') telling.once('invoice.paid');
  if (status === 'expired') telling.once('invoice.expired');
  if (status === 'partially_paid' && isClosed) telling.once('invoice.underpaid');
  if (isClosed && (paid.isLateUnreported || (status === 'expired' && paid.isTimelyUnreported))) {
    telling.events.push('invoice.late_payment');
  }

  return {
    status,
    pendingAmount: pending,
    paidAmount: final,
    reversedAmount: paid.reversed,
    paidAt: status === 'paid' ? (invoice.paidAt ?? now) : null,
    closedAt,
    reportedEvents: telling.reportedEvents,
    destinations: {
      counted: isClosed ? 'unresolved' : coveredForGood ? 'credit' : null,
      uncounted: 'unresolved',
    },
    events: telling.events,
  };
}

/** Why a settled deposit of an invoice is unresolved. An invoice that has expired counts no payment, whenever it was seen. */
export function unresolvedReason(
  invoice: Pick<Invoice, 'asset' | 'dust' | 'expiresAt' | 'status'>,
  { asset, amount, firstSeenAt }: Pick<Deposit, 'asset' | 'amount' | 'firstSeenAt'>,
): UnresolvedReason {
  if (asset !== invoice.asset) return 'wrong_asset';
  if (amount < invoice.dust) return 'too_small';
  const isInTime = invoice.expiresAt === null || firstSeenAt <= invoice.expiresAt;
  return isInTime && invoice.status !== 'expired' ? 'underpaid' : 'late';
}

/**
 * Whether the merchant is told of an unresolved deposit when it is settled: late and short ones are told with their
 * invoice, and anybody can send very small ones. `dust` is the smallest amount of the deposit's own asset, where it is known.
 */
export const isToldWhenSettled = (
  reason: UnresolvedReason,
  amount: Units,
  dust: Units | undefined,
): boolean => reason === 'wrong_asset' && (dust === undefined || amount >= dust);

type Facts = {
  invoice: InvoiceFacts;
  isOpen: boolean;
  covered: boolean;
  isPaid: boolean;
  over: boolean;
  seen: Units;
};

function statusOf({ invoice, isOpen, covered, isPaid, over, seen }: Facts): Status {
  if (!isOpen) return invoice.status;
  if (isPaid) return 'paid';
  if (covered) return 'confirmed';
  if (seen > 0n) return 'partially_paid';
  return over ? 'expired' : 'pending';
}

const REVERSALS = 'invoice.payment_reversed';

/**
 * Keeps the reported events, as `event` or `event:detail`, so that none is reported twice. It keeps the last detail
 * of each event, and the number of reversals (`#n`): the list stays short for any number of payments.
 */
function eventCollector(before: readonly string[]) {
  let known = before;
  const events: InvoiceEvent[] = [];
  // Former releases stored one key per reversed payment instead of a number.
  const numbered = before.find((key) => key.startsWith(`${REVERSALS}:#`))?.slice(REVERSALS.length + 2);
  const unnumbered = before.filter((key) => key.startsWith(`${REVERSALS}:`));
  let reversals = BigInt(numbered ?? unnumbered.length);
  return {
    events,
    once(event: InvoiceEvent, detail?: string) {
      const key = detail === undefined ? event : `${event}:${detail}`;
      if (known.includes(key)) return;
      known = [...known.filter((one) => !one.startsWith(`${event}:`)), key];
      events.push(event);
    },
    reversal() {
      reversals += 1n;
      known = [...known.filter((one) => !one.startsWith(`${REVERSALS}:#`)), `${REVERSALS}:#${reversals}`];
      events.push(REVERSALS);
    },
    /** How many reversals were reported so far; undefined for none. */
    reversals: (): string | undefined => (reversals === 0n ? undefined : String(reversals)),
    get reportedEvents(): readonly string[] {
      return known;
    },
  };
}
