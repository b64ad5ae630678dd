import { sum, type Units } from '@quittance/shared/money';
import { type Deposit, givenUpAt, isFinal } from './deposit.ts';
import type { Invoice } from './invoice.ts';
import { AWAITED_AFTER_DROP_MS, type InvoicePayments, type MempoolPayment } from './mempool-payment.ts';

/** The state of an invoice's chain. */
export type ChainView = {
  /** The height of the cursor. */
  height: number;
  /** All payments up to this time are known; null: nothing is known yet. */
  knownUntil: Date | null;
};

/**
 * The input of the state table: totals over any number of payments. The sums count payments in the invoice's asset
 * that are at least the dust limit, and that are in the chain or may come back to it.
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

export type PaidInvoice = Pick<Invoice, 'asset' | 'dust' | 'expiresAt'>;

/** What merchants were told already: reversals by `reversalOf`, late payments by deposit. */
export type ReportedChanges = { reversals: ReadonlySet<string>; late: ReadonlySet<string> };

const isGivenUp = (deposit: Deposit, view: ChainView): boolean =>
  deposit.droppedHeight !== null && view.height >= givenUpAt(deposit.droppedHeight, deposit.minConfirmations);

/** What decides whether a payment counts. */
type Counted = Pick<MempoolPayment, 'asset' | 'amount' | 'firstSeenAt'>;

const amountOf = (payments: readonly Counted[]): Units => sum(payments.map(({ amount }) => amount));

/** Each key once. */
const once = <T>(given: readonly T[], keyOf: (one: T) => string): T[] => [
  ...new Map(given.map((one) => [keyOf(one), one])).values(),
];

/** Classifies each payment of an invoice: whether it is in the chain, counts, is in time and is final. */
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
    // Dust and other tokens are listed and never count.
    counts: (payment: Counted) => payment.asset === invoice.asset && payment.amount >= invoice.dust,
    inTime: (payment: Counted) => invoice.expiresAt === null || payment.firstSeenAt <= invoice.expiresAt,
    /** Names a reversal by its block, so that a deposit that returns and is dropped again is reported again. */
    reversalOf: (deposit: Deposit): string | undefined => {
      if (deposit.state === 'dropped') return `${deposit.id}.${deposit.blockHash}`;
      return deposit.state === 'reversed' || isLost(deposit) ? `${deposit.id}.settled` : undefined;
    },
    /** Names a drop by its time, so that a payment that comes back and is dropped again is reported again. */
    dropOf: ({ outpoint, droppedAt }: MempoolPayment): string | undefined =>
      droppedAt === null ? undefined : `${outpoint}.${droppedAt.getTime()}`,
  };
}

/**
 * The totals of payments that are given one by one, in any order, with repetitions. It defines the statement
 * `payments_totals`, which computes them in the database; a test compares the two.
 */
export function totalsOf(
  invoice: PaidInvoice,
  given: InvoicePayments,
  view: ChainView,
  reported: ReportedChanges = { reversals: new Set(), late: new Set() },
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
  const isReported = (key: string | undefined) => key === undefined || reported.reversals.has(key);
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
      deposits.filter(counts).some((deposit) => !isReported(reversalOf(deposit))) ||
      timely.some((mempoolPayment) => !isReported(dropOf(mempoolPayment))),
    isTimelyUnreported: counted.some((deposit) => inTime(deposit) && !reported.late.has(deposit.id)),
    isLateUnreported: counted.some((deposit) => !inTime(deposit) && !reported.late.has(deposit.id)),
  };
}
