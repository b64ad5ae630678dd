import {
  type Cents,
  cents,
  type Rate,
  type RatePair,
  smallestUnit,
  type Units,
  units,
  unitsOfFiat,
  unitsOfSameValue,
  worthOfUnits,
} from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { isUnwanted } from './states.ts';

/**
 * The states of a refund. With a claim link it is claimable until its payer names an address, and again when the payout
 * failed without a cost. A refund to an address that the ledger did not cover is voided: it never came to exist.
 */
export const refundMoves = {
  claimable: ['pending', 'expired', 'cancelled'],
  pending: ['completed', 'failed', 'claimable', 'expired', 'cancelled', 'voided'],
  completed: [],
  failed: [],
  expired: [],
  cancelled: [],
  voided: [],
} as const satisfies Record<string, readonly string[]>;

export type RefundState = keyof typeof refundMoves;
/** A refund in one of these states takes its share of what was paid. */
export const countedStates = ['claimable', 'pending', 'completed'] as const satisfies readonly RefundState[];

/** How a payout ends, by its status. */
export const endedPayouts = ['mined', 'failed', 'refused', 'voided'] as const;

/** A payout that has ended. */
export type PayoutEnd = {
  status: (typeof endedPayouts)[number];
  /** Its transaction was mined and reverted, so that its network fee was spent. */
  isReverted: boolean;
  /** Why it failed. */
  failedReason: string | null;
};

/** The claim link of a refund. `version`: how often the refund has changed. */
export type RefundLink = { expiresAt: Date; version: number; ofDeposit: boolean };

/** Each attempt to pay changes a refund twice: a link ends after 50 attempts that came to nothing. */
export const LINK_VERSION_MAX = 100;

/**
 * The state of a pending refund whose payout has ended. A link whose payout has cost a fee ends: whoever has the link could
 * spend the merchant's balance on fees. A merchant that cancels or rejects the payout cancels the link. What the ledger has refused of
 * a deposit it refuses for ever.
 * @param link null when the merchant gave the address
 */
export function stateAfterPayout(
  { status, isReverted, failedReason }: PayoutEnd,
  link: RefundLink | null,
  now: Date,
): RefundState {
  if (status === 'mined') return 'completed';
  if (link === null) return status === 'failed' ? 'failed' : 'voided';
  if (isReverted) return 'failed';
  if (status === 'failed' && isUnwanted(failedReason)) return 'cancelled';
  const isRefusedForEver = status === 'refused' && link.ofDeposit;
  const isOver = link.expiresAt <= now || link.version >= LINK_VERSION_MAX;
  return isRefusedForEver || isOver ? 'expired' : 'claimable';
}

/** What was paid for an invoice and is in the balance, in units of its asset. */
export type PaidInvoice = {
  due: Units;
  /** Final and credited; of an invoice that is not paid, what its merchant has accepted. */
  paid: Units;
  decimals: number;
  /** US dollars for one whole asset, as locked in the invoice. */
  rate: Rate;
  /** US dollars for one unit of the invoice's currency, as locked in it. */
  fiatRate: Rate;
};

/** All that is left, what is left of an overpayment, or an amount in the invoice's currency. */
export type WantedRefund = 'all' | 'surplus' | Cents;

/** What the refunds of an invoice take of what was paid for it, and what those of its surplus take. */
export type Refunded = { all: Units; surplus: Units };

/** The same, and how much of it open claim links promise: nothing of that is paid. */
export type RefundedNow = Refunded & { promised: Units };

/** The most that the refunds of an invoice may take together, and those of its surplus. */
export const limitsOf = ({ due, paid }: Pick<PaidInvoice, 'due' | 'paid'>): Refunded => ({
  all: paid,
  surplus: units(paid > due ? paid - due : 0n),
});

/**
 * What a refund may take; nothing when it is not above zero. Refunds of amounts take nothing of the surplus while there is
 * enough beside it, so that the surplus is the same in whatever order an invoice is refunded.
 */
export function leftOf(
  invoice: Pick<PaidInvoice, 'due' | 'paid'>,
  refunded: Refunded,
  wanted: WantedRefund,
): Units {
  const limits = limitsOf(invoice);
  const left = limits.all - refunded.all;
  const surplus = limits.surplus - refunded.surplus;
  return units(wanted === 'surplus' && surplus < left ? surplus : left);
}

export type RefundAmounts = {
  /** What it takes of what was paid. */
  share: Units;
  /** What is paid. */
  amount: Units;
};

/**
 * - `nothing_left`: the former refunds have taken all.
 * - `too_large`: less than this is left.
 * - `too_small`: it is worth less than one unit.
 */
export type RefundProblem = 'nothing_left' | 'too_large' | 'too_small';

/**
 * How much a refund pays, and how much of what was paid it takes. Both are rounded down to a whole unit, once, so that the
 * merchant never pays more than the amount is worth.
 * @param refunded what former refunds have taken
 * @param ratesNow to pay the same value in the currency of the invoice as then; null to pay at the rates of the invoice
 */
export function refundAmounts(
  invoice: PaidInvoice,
  refunded: Refunded,
  wanted: WantedRefund,
  ratesNow: RatePair | null,
): Result<RefundAmounts, RefundProblem> {
  const { decimals } = invoice;
  const left = leftOf(invoice, refunded, wanted);
  if (left <= 0n) return refuse('nothing_left');
  const share = shareOf(wanted, left, invoice);
  if (share > left) return refuse('too_large');
  const amount = amountAt(ratesNow);
  return share > 0n && amount > 0n ? ok({ share, amount }) : refuse('too_small');

  function amountAt(now: RatePair | null): Units {
    if (now === null) return share;
    // Not of the share, which is rounded already.
    if (typeof wanted === 'bigint')
      return unitsOfFiat(wanted, now.fiatRate, { rate: now.rate, decimals }, 'down');
    return unitsOfSameValue(share, invoice, now, 'down');
  }
}

type Worth = Pick<PaidInvoice, 'rate' | 'fiatRate' | 'decimals'> & {
  /** Of the currency. */
  currencyDecimals: number;
};

/** What so much was worth in the currency of the invoice, rounded down to its smallest unit: a refund of that takes no more. */
export function fiatWithin({ rate, fiatRate, decimals, currencyDecimals }: Worth, amount: Units): Cents {
  const worth = worthOfUnits(amount, rate, fiatRate, decimals);
  return cents(worth - (worth % smallestUnit(currencyDecimals)));
}

/** What a refund is worth in the currency of its invoice: the amount that was asked for, or what its share was worth then. */
export const worthOfRefund = (invoice: Worth, wanted: WantedRefund, share: Units): Cents =>
  typeof wanted === 'bigint' ? wanted : fiatWithin(invoice, share);

function shareOf(wanted: WantedRefund, left: Units, { rate, fiatRate, decimals }: PaidInvoice): Units {
  switch (wanted) {
    case 'all':
    case 'surplus':
      return left;
    default:
      return unitsOfFiat(wanted, fiatRate, { rate, decimals }, 'down');
  }
}
