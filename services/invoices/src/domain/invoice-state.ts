import { lessTolerance, sum, type Units } from '@quittance/shared/money';
import type { Disposition } from './deposit.ts';
import type { Invoice, Progress, Status } from './invoice.ts';
import type { ChainView, PaymentTotals } from './payment-totals.ts';

/** What merchants are told of an invoice's progress. */
export type InvoiceEvent =
  | 'invoice.partially_paid'
  | 'invoice.confirmed'
  | 'invoice.paid'
  | 'invoice.expired'
  | 'invoice.underpaid'
  | 'invoice.overpaid'
  | 'invoice.late_payment'
  | 'invoice.payment_reversed';

/** Where final payments go; null: it is not decided yet. */
export type Destinations = { counted: Disposition | null; uncounted: 'unresolved' };

export type InvoiceState = Progress & {
  /** Of the payments that are final and not settled. */
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
  | 'status'
  | 'paidAt'
  | 'closedAt'
  | 'announced'
>;

/**
 * The state table: what an invoice's payments, its chain and the clock make of it. What was decided for good comes in
 * with the invoice (`paid`, `closedAt`, what was announced) and with its payments (settled, credited, told). A payment
 * without a block counts as seen, and for nothing that could not be taken back.
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

  // Money that lost its block usually returns within a few, what waits for its first one gets there or is replaced,
  // and what vanished may come back: nothing is closed over its head.
  const over =
    invoice.expiresAt !== null && knownUntil !== null && knownUntil > invoice.expiresAt && !paid.isAwaited;

  const isPaid = covered && paid.timelyCredited >= need;
  const status = statusOf({ invoice, isOpen, covered, isPaid, over, seen });
  const closedAt = isOpen && over && !covered ? now : invoice.closedAt;
  const isClosed = closedAt !== null;

  // With the amount due covered, whatever else arrives is credited too, late or not. An expired invoice
  // counts nothing.
  const nothing = 0n as Units;
  const [final, pending] = covered
    ? [
        sum([paid.timelyFinal, paid.lateFinal]),
        sum([paid.timelyPending, paid.latePending, paid.timelyWaiting, paid.lateWaiting]),
      ]
    : status === 'expired'
      ? [nothing, nothing]
      : [paid.timelyFinal, sum([paid.timelyPending, paid.timelyWaiting])];
  const arrived = covered ? sum([inChain, paid.lateFinal, paid.latePending]) : nothing;

  const telling = eventRecorder(invoice.announced);
  if (paid.isReversalUnreported) telling.reversal();
  // Money that comes after a reversal is news: the merchant's last word was that it is gone.
  if (status === 'partially_paid' && invoice.status === 'pending') {
    telling.once('invoice.partially_paid', telling.reversals());
  }
  if (coveredByBlocks) telling.once('invoice.confirmed');
  // By the sum: each payment beyond what is due changes the balance, and is told.
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
    announced: telling.announced,
    destinations: {
      counted: isClosed ? 'unresolved' : coveredForGood ? 'credit' : null,
      uncounted: 'unresolved',
    },
    events: telling.events,
  };
}

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
 * Keeps what was announced, as `event` or `event:detail`, so that nothing is announced twice. Of each event the last
 * detail is kept, and of reversals how often they were told (`#n`): the list stays short, whatever arrives.
 */
function eventRecorder(before: readonly string[]) {
  let known = before;
  const events: InvoiceEvent[] = [];
  // Before they were numbered, each payment had a key of its own.
  const numbered = before.find((key) => key.startsWith(`${REVERSALS}:#`))?.slice(REVERSALS.length + 2);
  const unnumbered = before.filter(
    (key) => key.startsWith(`${REVERSALS}:`) && key[REVERSALS.length + 1] !== '#',
  );
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
    /** How often payments were told to be gone so far; undefined for never. */
    reversals: (): string | undefined => (reversals === 0n ? undefined : String(reversals)),
    get announced(): readonly string[] {
      return known;
    },
  };
}
