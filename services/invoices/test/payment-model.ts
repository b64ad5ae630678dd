import { sum, type Units } from '@quittance/shared/money';
import { type Deposit, givenUpAt, isFinal } from '../src/domain/deposit.ts';
import type { Invoice } from '../src/domain/invoice.ts';
import type { ChainView, PaymentTotals } from '../src/domain/invoice-state.ts';
import {
  AWAITED_AFTER_DROP_MS,
  type InvoicePayments,
  type MempoolPayment,
} from '../src/domain/mempool-payment.ts';

/*
 * What the statements of store/payments.ts and store/invoice-reads.ts compute in Postgres, payment by payment: the model
 * that tests compare them with.
 */

type PaidInvoice = Pick<Invoice, 'asset' | 'dust' | 'expiresAt'>;

const isGivenUp = (deposit: Deposit, view: ChainView): boolean =>
  deposit.droppedHeight !== null && view.height >= givenUpAt(deposit.droppedHeight, deposit.minConfirmations);

/** What decides whether a payment counts. */
type Counted = Pick<MempoolPayment, 'asset' | 'amount' | 'firstSeenAt'>;

const amountOf = (payments: readonly Counted[]): Units => sum(payments.map(({ amount }) => amount));

/** Classifies each payment of an invoice: whether it is in the chain, counts, is in time and is final. */
export function classifyPayments(
  invoice: PaidInvoice,
  { deposits, mempoolPayments }: InvoicePayments,
  view: ChainView,
) {
  const isLost = (deposit: Deposit) => deposit.state === 'missing' && isGivenUp(deposit, view);
  const present = deposits.filter(
    (deposit) => ['seen', 'settled', 'missing'].includes(deposit.state) && !isLost(deposit),
  );
  const inBlocks = new Set(present.map(({ outpoint }) => outpoint));
  return {
    present,
    isLost,
    mempoolPayments: mempoolPayments.filter(({ outpoint }) => !inBlocks.has(outpoint)),
    isFinal: (deposit: Deposit) => isFinal(deposit, view.height),
    // Dust and other tokens are listed and never count.
    counts: (payment: Counted) => payment.asset === invoice.asset && payment.amount >= invoice.dust,
    inTime: (payment: Counted) => invoice.expiresAt === null || payment.firstSeenAt <= invoice.expiresAt,
    isReversed: (deposit: Deposit) => ['dropped', 'reversed'].includes(deposit.state) || isLost(deposit),
  };
}

/** The totals of payments that are given one by one, of which nothing was reported yet. */
export function totalsOf(invoice: PaidInvoice, given: InvoicePayments, view: ChainView): PaymentTotals {
  const { deposits } = given;
  const { present, mempoolPayments, isLost, isFinal, counts, inTime, isReversed } = classifyPayments(
    invoice,
    given,
    view,
  );
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
      deposits.filter(counts).some(isReversed) || timely.some(({ droppedAt }) => droppedAt !== null),
    isTimelyUnreported: counted.some(inTime),
    isLateUnreported: counted.some(not(inTime)),
  };
}

/**
 * Each payment once, in its current state: a deposit without a block whose payment is in the mempool again is shown
 * as that mempool payment.
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
