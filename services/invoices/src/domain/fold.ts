import type { DepositId } from '@quittance/shared/ids';
import { lessTolerance, sum, type Units } from '@quittance/shared/money';
import { confirmationsOf, type Deposit, type Disposition, givenUpAt } from './deposit.ts';
import type { Invoice, Progress, Status } from './invoice.ts';
import { AWAITED_AFTER_GONE_MS, type Seen, type Sighting } from './sighting.ts';

/** What is known of the invoice's chain. */
export type ChainView = {
  /** The height it was followed to. */
  height: number;
  /** Every payment made until then has been seen; null when nothing is known yet. */
  knownUntil: Date | null;
};

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

export type Settlement = { deposit: DepositId; disposition: Disposition };

export type Folded = Progress & {
  /** Deposits that are final now, settled or not. */
  final: readonly DepositId[];
  /** Final deposits whose destination is decided now: the ledger must be told. */
  settlements: readonly Settlement[];
  /** Settled deposits that did not come back: the ledger must be told. */
  reversals: readonly DepositId[];
  events: readonly InvoiceEvent[];
};

export type FoldedInvoice = Pick<
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
 * The state table: what an invoice's payments, its chain and the clock make of it. The order of the payments does
 * not matter, nor does one given twice. What was decided for good comes in with the invoice (`paid`, `closedAt`,
 * what was announced) and with its deposits (settled, credited). A payment without a block counts as seen, and for
 * nothing that could not be taken back.
 */
export function fold(invoice: FoldedInvoice, given: Seen, view: ChainView, now: Date): Folded {
  const deposits = inOrder(given.deposits, ({ id }) => id);
  const lost = (deposit: Deposit) => deposit.state === 'missing' && isGivenUp(deposit, view);
  const present = deposits.filter(
    (deposit) => ['seen', 'settled', 'missing'].includes(deposit.state) && !lost(deposit),
  );
  const inBlocks = new Set(present.map(({ outpoint }) => outpoint));
  const sightings = inOrder(given.sightings, ({ outpoint }) => outpoint).filter(
    ({ outpoint }) => !inBlocks.has(outpoint),
  );
  const waiting = sightings.filter(({ goneAt }) => goneAt === null);
  const isFinal = (deposit: Deposit) =>
    deposit.state !== 'seen' || confirmationsOf(deposit, view.height) >= deposit.minConfirmations;
  // Dust, and tokens that are not the invoice's, are listed and never counted.
  const counts = (payment: Counted) => payment.asset === invoice.asset && payment.amount >= invoice.dust;
  const inTime = (payment: Counted) => invoice.expiresAt === null || payment.firstSeenAt <= invoice.expiresAt;

  const timely = present.filter((deposit) => counts(deposit) && inTime(deposit));
  const timelyWaiting = waiting.filter((sighting) => counts(sighting) && inTime(sighting));
  const need = lessTolerance(invoice.amountDue, invoice.toleranceBps);
  const inChain = amountOf(timely);
  const seen = amountOf([...timely, ...timelyWaiting]);
  const isOpen = invoice.status !== 'paid' && invoice.closedAt === null;
  const covered = isOpen ? seen >= need : invoice.status === 'paid';
  const coveredByBlocks = isOpen ? inChain >= need : covered;
  const coveredForGood = isOpen ? amountOf(timely.filter(isFinal)) >= need : covered;
  const credited = amountOf(timely.filter((deposit) => deposit.creditedAt !== null));

  // Money that lost its block usually returns within a few, what waits for its first one gets there or is replaced,
  // and what vanished may come back: nothing is closed over its head.
  const awaited =
    sightings.some((sighting) => counts(sighting) && inTime(sighting) && isAwaited(sighting, view)) ||
    deposits.some(
      (deposit) =>
        deposit.state === 'dropped' && counts(deposit) && inTime(deposit) && !isGivenUp(deposit, view),
    );
  const over =
    invoice.expiresAt !== null && view.knownUntil !== null && view.knownUntil > invoice.expiresAt && !awaited;

  const status = statusOf({ invoice, isOpen, covered, isPaid: covered && credited >= need, over, seen });
  const closedAt = isOpen && over && !covered ? now : invoice.closedAt;
  const isClosed = closedAt !== null;

  // With the amount due covered, whatever else arrives is credited too, late or not. An expired invoice
  // counts nothing.
  const counted = covered ? present.filter(counts) : status === 'expired' ? [] : timely;
  const countedWaiting = covered ? waiting.filter(counts) : status === 'expired' ? [] : timelyWaiting;

  const settlements = present
    .filter((deposit) => deposit.state === 'seen' && isFinal(deposit))
    .flatMap((deposit): Settlement[] => {
      if (!counts(deposit) || isClosed) return [{ deposit: deposit.id, disposition: 'unresolved' }];
      return coveredForGood ? [{ deposit: deposit.id, disposition: 'credit' }] : [];
    });

  const telling = announcer(invoice.announced);
  for (const deposit of deposits.filter(counts)) {
    // By its block: what returned and is dropped again is told again.
    if (deposit.state === 'dropped') {
      telling.once('invoice.payment_reversed', `${deposit.id}.${deposit.blockHash}`);
    }
    if (deposit.state === 'reversed' || lost(deposit)) {
      telling.once('invoice.payment_reversed', `${deposit.id}.settled`);
    }
  }
  for (const sighting of sightings.filter((one) => counts(one) && inTime(one))) {
    // By its time: what came back and is replaced again is told again.
    if (sighting.goneAt !== null) {
      telling.once('invoice.payment_reversed', `${sighting.outpoint}.${sighting.goneAt.getTime()}`);
    }
  }
  // Money that comes after a reversal is news: the merchant's last word was that it is gone.
  if (status === 'partially_paid' && invoice.status === 'pending') {
    telling.once('invoice.partially_paid', telling.reversals());
  }
  if (coveredByBlocks) telling.once('invoice.confirmed');
  // By the sum: each payment beyond what is due changes the balance, and is told.
  if (coveredByBlocks && amountOf(counted) > invoice.amountDue) {
    telling.once('invoice.overpaid', String(amountOf(counted)));
  }
  if (status === 'paid') telling.once('invoice.paid');
  if (status === 'expired') telling.once('invoice.expired');
  if (status === 'partially_paid' && isClosed) telling.once('invoice.underpaid');
  if (isClosed) {
    const late = present.filter((deposit) => counts(deposit) && (status === 'expired' || !inTime(deposit)));
    for (const deposit of late) telling.once('invoice.late_payment', deposit.id);
  }

  return {
    status,
    pendingAmount: amountOf([...counted.filter((deposit) => !isFinal(deposit)), ...countedWaiting]),
    paidAmount: amountOf(counted.filter(isFinal)),
    paidAt: status === 'paid' ? (invoice.paidAt ?? now) : null,
    closedAt,
    announced: telling.announced,
    final: present.filter(isFinal).map((deposit) => deposit.id),
    settlements,
    reversals: deposits.filter(lost).map((deposit) => deposit.id),
    events: telling.events,
  };
}

/** What decides whether a payment counts, in a block or before. */
type Counted = Pick<Sighting, 'asset' | 'amount' | 'firstSeenAt'>;

type Facts = {
  invoice: FoldedInvoice;
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

const isGivenUp = (deposit: Deposit, view: ChainView): boolean =>
  deposit.droppedHeight !== null && view.height >= givenUpAt(deposit.droppedHeight, deposit.minConfirmations);

const isAwaited = ({ goneAt }: Sighting, { knownUntil }: ChainView): boolean =>
  goneAt === null || knownUntil === null || knownUntil.getTime() - goneAt.getTime() <= AWAITED_AFTER_GONE_MS;

const amountOf = (payments: readonly Counted[]): Units => sum(payments.map(({ amount }) => amount));

/** Each once, in an order of their own. */
function inOrder<T>(given: readonly T[], keyOf: (one: T) => string): T[] {
  const byKey = new Map(given.map((one) => [keyOf(one), one]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Keeps what was announced, as `kind` or `kind:detail`, so that nothing is announced twice. */
function announcer(before: readonly string[]) {
  const known = new Set(before);
  const events: InvoiceEvent[] = [];
  return {
    events,
    once(event: InvoiceEvent, detail?: string) {
      const key = detail === undefined ? event : `${event}:${detail}`;
      if (known.has(key)) return;
      known.add(key);
      // Once a fold, however many payments it is of: each event carries the whole invoice.
      if (!events.includes(event)) events.push(event);
    },
    /** How many payments were told to be gone so far; undefined for none. */
    reversals(): string | undefined {
      const count = [...known].filter((key) => key.startsWith('invoice.payment_reversed')).length;
      return count === 0 ? undefined : String(count);
    },
    get announced(): readonly string[] {
      return [...known];
    },
  };
}
