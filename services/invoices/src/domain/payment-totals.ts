import { sum, type Units } from '@quittance/shared/money';
import { type Deposit, givenUpAt, isFinal } from './deposit.ts';
import type { Invoice } from './invoice.ts';
import { AWAITED_AFTER_DROP_MS, type InvoicePayments, type MempoolPayment } from './mempool-payment.ts';

/** What is known of the invoice's chain. */
export type ChainView = {
  /** The height it was followed to. */
  height: number;
  /** Every payment made until then has been seen; null when nothing is known yet. */
  knownUntil: Date | null;
};

/**
 * What the state table needs to know of an invoice's payments, however many there are. Only payments of the invoice's
 * asset that are no dust count in the sums; those in the chain, and those whose lost block may still come back, stand
 * in it.
 */
export type PaymentTotals = {
  timelyFinal: Units;
  timelyPending: Units;
  /** Of those in time, what the ledger has booked. */
  timelyCredited: Units;
  lateFinal: Units;
  latePending: Units;
  /** Without a block that counts. */
  timelyWaiting: Units;
  lateWaiting: Units;
  /** Credited, taken back by the network, and not in the chain again. */
  reversed: Units;
  /** Something in time lost its block, or waits for its first one: nothing is closed over its head. */
  isAwaited: boolean;
  /** How many are final and have no destination yet: those that count, and those that do not. */
  unsettled: number;
  unsettledUncounted: number;
  /** Settled, and given up: the ledger must be told. */
  lost: number;
  /** Something was taken back and the merchant was not told. */
  isReversalUnreported: boolean;
  /** Something that was in time, or was not, stands in the chain and was not told to be late. */
  isTimelyUnreported: boolean;
  isLateUnreported: boolean;
};

export type PaidInvoice = Pick<Invoice, 'asset' | 'dust' | 'expiresAt'>;

/** What merchants were told already, by `reversalOf` and by deposit. */
export type ReportedChanges = { reversals: ReadonlySet<string>; late: ReadonlySet<string> };

const isGivenUp = (deposit: Deposit, view: ChainView): boolean =>
  deposit.droppedHeight !== null && view.height >= givenUpAt(deposit.droppedHeight, deposit.minConfirmations);

/** What decides whether a payment counts, in a block or before. */
type Counted = Pick<MempoolPayment, 'asset' | 'amount' | 'firstSeenAt'>;

const amountOf = (payments: readonly Counted[]): Units => sum(payments.map(({ amount }) => amount));

/** Each once. */
const once = <T>(given: readonly T[], keyOf: (one: T) => string): T[] => [
  ...new Map(given.map((one) => [keyOf(one), one])).values(),
];

/** Each payment of an invoice for itself: whether it stands in the chain, counts, is in time and final. */
export function classifyPayments(invoice: PaidInvoice, given: InvoicePayments, view: ChainView) {
  const deposits = once(given.deposits, ({ id }) => id);
  const isLost = (deposit: Deposit) => deposit.state === 'missing' && isGivenUp(deposit, view);
  const present = deposits.filter(
    (deposit) => ['seen', 'settled', 'missing'].includes(deposit.state) && !isLost(deposit),
  );
  const inBlocks = new Set(present.map(({ outpoint }) => outpoint));
  return {
    deposits,
    present,
    isLost,
    mempoolPayments: once(given.mempoolPayments, ({ outpoint }) => outpoint).filter(
      ({ outpoint }) => !inBlocks.has(outpoint),
    ),
    isFinal: (deposit: Deposit) => isFinal(deposit, view.height),
    // Dust, and tokens that are not the invoice's, are listed and never counted.
    counts: (payment: Counted) => payment.asset === invoice.asset && payment.amount >= invoice.dust,
    inTime: (payment: Counted) => invoice.expiresAt === null || payment.firstSeenAt <= invoice.expiresAt,
    /** Names what was taken back: by its block, so that what returned and is dropped again is told again. */
    reversalOf: (deposit: Deposit): string | undefined => {
      if (deposit.state === 'dropped') return `${deposit.id}.${deposit.blockHash}`;
      return deposit.state === 'reversed' || isLost(deposit) ? `${deposit.id}.settled` : undefined;
    },
    /** By its time: what came back and is replaced again is told again. */
    dropOf: ({ outpoint, droppedAt }: MempoolPayment): string | undefined =>
      droppedAt === null ? undefined : `${outpoint}.${droppedAt.getTime()}`,
  };
}

/**
 * The totals of payments given one by one, in any order, however often: the meaning of the statement
 * `payments_totals`, which computes them where the payments are. A test holds one against the other.
 */
export function totalsOf(
  invoice: PaidInvoice,
  given: InvoicePayments,
  view: ChainView,
  told: ReportedChanges = { reversals: new Set(), late: new Set() },
): PaymentTotals {
  const { deposits, present, mempoolPayments, isLost, isFinal, counts, inTime, reversalOf, dropOf } =
    classifyPayments(invoice, given, view);
  const counted = present.filter(counts);
  const waiting = mempoolPayments.filter(
    (mempoolPayment) => mempoolPayment.droppedAt === null && counts(mempoolPayment),
  );
  const timely = mempoolPayments.filter((mempoolPayment) => counts(mempoolPayment) && inTime(mempoolPayment));
  const not =
    <T>(is: (one: T) => boolean) =>
    (one: T) =>
      !is(one);
  const unsettled = present.filter((deposit) => deposit.state === 'seen' && isFinal(deposit));
  const isTold = (key: string | undefined) => key === undefined || told.reversals.has(key);
  const isStanding = (outpoint: string) =>
    deposits.some((one) => one.outpoint === outpoint && ['seen', 'settled'].includes(one.state)) ||
    deposits.some((one) => one.outpoint === outpoint && one.state === 'missing' && !isLost(one));
  const reversed = new Map(
    deposits
      .filter((one) => (one.state === 'reversed' || isLost(one)) && one.disposition === 'credit')
      .filter(({ outpoint }) => !isStanding(outpoint))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map((one) => [one.outpoint, one]),
  );
  return {
    timelyFinal: amountOf(counted.filter(inTime).filter(isFinal)),
    timelyPending: amountOf(counted.filter(inTime).filter(not(isFinal))),
    timelyCredited: amountOf(counted.filter(inTime).filter(({ creditedAt }) => creditedAt !== null)),
    lateFinal: amountOf(counted.filter(not(inTime)).filter(isFinal)),
    latePending: amountOf(counted.filter(not(inTime)).filter(not(isFinal))),
    timelyWaiting: amountOf(waiting.filter(inTime)),
    lateWaiting: amountOf(waiting.filter(not(inTime))),
    reversed: amountOf([...reversed.values()]),
    isAwaited:
      timely.some(
        ({ droppedAt }) =>
          droppedAt === null ||
          view.knownUntil === null ||
          view.knownUntil.getTime() - droppedAt.getTime() <= AWAITED_AFTER_DROP_MS,
      ) ||
      deposits.some((one) => one.state === 'dropped' && counts(one) && inTime(one) && !isGivenUp(one, view)),
    unsettled: unsettled.filter(counts).length,
    unsettledUncounted: unsettled.filter(not(counts)).length,
    lost: deposits.filter(isLost).length,
    isReversalUnreported:
      deposits.filter(counts).some((deposit) => !isTold(reversalOf(deposit))) ||
      timely.some((mempoolPayment) => !isTold(dropOf(mempoolPayment))),
    isTimelyUnreported: counted.some((deposit) => inTime(deposit) && !told.late.has(deposit.id)),
    isLateUnreported: counted.some((deposit) => !inTime(deposit) && !told.late.has(deposit.id)),
  };
}
