import type { ReplyOf } from '@quittance/shared/commands';
import type { Units } from '@quittance/shared/money';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type LedgerPayout, type Posting, type ReleaseTo, releasePosting, settlePosting } from './posting.ts';

export type HoldState = 'placed' | 'refused' | 'voided' | 'settled' | 'released';

/** What may become of a hold. Everything but `placed` is for good. */
const moves = {
  placed: ['voided', 'settled', 'released'],
  refused: [],
  voided: [],
  settled: [],
  released: [],
} as const satisfies Record<HoldState, readonly HoldState[]>;

/** What hold.place answers, however late and however often it is asked. */
export const outcomeOf: Record<HoldState, ReplyOf<'hold.place'>['outcome']> = {
  placed: 'placed',
  settled: 'placed',
  released: 'placed',
  refused: 'refused',
  voided: 'voided',
};

/**
 * A hold that is asked for. `takesAll`: of all that the balance has after the fee, and at least of `amount`. `isPart`: of a
 * deposit it may be less than is left. `invoice`: the one that the payout refunds, to be shown.
 */
export type AskedHold = LedgerPayout & { takesAll?: boolean; isPart?: boolean; invoice?: string | null };

/** Amounts are null in a tombstone: the payout was given up before its hold was asked for. */
export type Hold = {
  state: HoldState;
  because?: ReplyOf<'hold.place'>['because'];
  /** What the balance had when it refused the hold; known only to the statement that decides. */
  available?: Units | null;
} & (LedgerPayout | (Omit<LedgerPayout, 'amount' | 'networkFee'> & Tombstone));
type Tombstone = { amount: null; networkFee: null };

/** A hold as it is when it ends. */
export type EndingHold = Hold & {
  /** Where its money goes when it does not leave. */
  back: ReleaseTo;
};

/** Ends a hold; `feeKept` when the chain took its fee although the amount did not leave. */
export type HoldEnd = { to: 'voided' } | { to: 'settled' } | { to: 'released'; feeKept: boolean };

export type EndRefusal = 'unknown' | 'other_contents' | 'illegal';

/**
 * What ending a hold books: nothing when there is nothing to give back. Ending it again the same way yields
 * the same posting, which the ledger knows by its op and does not book again.
 */
export function endHold(
  hold: EndingHold | undefined,
  end: HoldEnd,
  said: Said,
): Result<Posting | undefined, EndRefusal> {
  if (hold === undefined) return refuse('unknown');
  if (!sameContents(hold, said)) return refuse('other_contents');
  // Giving up on what was refused, or never asked for, changes nothing.
  if (end.to === 'voided' && (hold.state === 'refused' || hold.amount === null)) return ok(undefined);
  const open: readonly HoldState[] = moves[hold.state];
  if (hold.state !== end.to && !open.includes(end.to)) return refuse('illegal');
  if (hold.amount === null) return refuse('illegal');
  return ok(postingOf(hold, end));
}

function postingOf({ back, ...payout }: LedgerPayout & Pick<EndingHold, 'back'>, end: HoldEnd): Posting {
  switch (end.to) {
    case 'settled':
      return settlePosting(payout);
    case 'released':
      return releasePosting(payout, end.feeKept ? 'failed_fee_kept' : 'failed', back);
    case 'voided':
      return releasePosting(payout, 'voided', back);
  }
}

/** What a payout's service says of it; who gives one up says less. */
type Said = Pick<LedgerPayout, 'account' | 'asset'> &
  Partial<Pick<LedgerPayout, 'amount' | 'networkFee' | 'deposit'>>;

/** One payout id has one account, asset, amount, fee and source; anything else is a defect of the sender. */
export function sameContents(hold: Hold, said: Said): boolean {
  const agrees = <T>(booked: T | null, given: T | undefined) =>
    booked === null || given === undefined || booked === given;
  return (
    hold.account === said.account &&
    hold.asset === said.asset &&
    agrees(hold.amount, said.amount) &&
    agrees(hold.networkFee, said.networkFee) &&
    (hold.amount === null || said.deposit === undefined || hold.deposit === said.deposit)
  );
}
