import { failpoint } from '@quittance/shared/failpoint';
import type { InvoiceId, RefundId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { assertNever, ok, type Result, refuse } from '@quittance/shared/result';
import type { FieldErrors } from '@quittance/shared/validation';
import { freshQuote, type PayoutOrder, readRecipient, termsOf } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { payableChain } from '../refund-order.ts';
import type { StoredRefund } from '../store/refund-rows.ts';
import {
  cancelRefund,
  claimRefund,
  expireRefunds,
  followPayouts,
  noteUnfunded,
  refundedOf,
} from '../store/refunds.ts';
import { findRequest } from '../store/request-proofs.ts';
import { findUnresolved } from '../store/unswept-deposits.ts';
import { describeInvoice } from './describe-invoice.ts';
import { requestPayout } from './request-payout.ts';

/**
 * Why a claim is not paid.
 *
 * | refusal | meaning |
 * |---|---|
 * | `{ address }` | The address is not valid. |
 * | `not_claimable` | The refund was claimed, cancelled or has expired a moment ago. |
 * | `balance` | The shop's balance does not cover it. The refund stays claimable. |
 * | `reversed` | The chain took back so much of what was paid for the invoice that its refunds are not covered. The refund stays claimable. |
 * | `resolved` | The shop has decided otherwise about the deposit, or the chain took it back. |
 * | `fee` | What is left after the network fee is too little to be paid. |
 * | `unavailable` | It is unknown whether the ledger has placed the hold, so this claim is never paid: it may be repeated. |
 */
export type ClaimRefusal =
  | FieldErrors
  | 'not_claimable'
  | 'balance'
  | 'reversed'
  | 'resolved'
  | 'fee'
  | 'unavailable';

/**
 * Pays a refund to the address that its payer gives. However often it is called at once, one payout is created: the refund
 * becomes pending in the transaction that stores the payout, and claimable again when the payout comes to nothing. Throws
 * Unavailable without a fresh quote or a description of the invoice: nothing was done.
 */
export async function payClaim(
  ports: Ports,
  refund: StoredRefund,
  body: { address: unknown },
  requestId: string,
): Promise<Result<void, ClaimRefusal>> {
  const { id, account, asset, invoiceId, depositId, externalId, metadata, assertionId } = refund;
  const address = readRecipient(body, payableChain(asset, ports.chains));
  if (!address.ok) return address;
  if (invoiceId !== null && !(await isCovered(ports, invoiceId))) return refuse('reversed');
  const quote = freshQuote(ports, asset);
  const terms = termsOf(quote);
  const dust = units(quote.dust);
  const pays = await paymentOf(ports, refund, terms);
  if (pays === undefined) return refuse('resolved');
  const { amount } = pays;
  if (amount <= 0n || amount < dust) return refuse('fee');
  if (depositId === null) {
    // So that a claim leaves no refused payout each time that it is sent while the balance is too low.
    const asked = await ports.bus.ask('balance.read', { account_id: account, asset });
    if (!asked.known) return refuse('unavailable');
    if (units(asked.reply.available) < amount + terms.networkFee) return refuseUnfunded();
  }

  const made = await requestPayout(ports, {
    account,
    request: null,
    madeBy: await findRequest(ports.db, assertionId),
    asset,
    ...pays,
    takesAll: false,
    address: address.value,
    ...terms,
    externalId,
    metadata,
    returnsDeposit: depositId,
    refund: { id, invoiceId, take: (trx, payoutId) => claimRefund(trx, id, payoutId) },
    requestId,
    key: undefined,
  });
  if (made.ok) return ok(undefined);
  const { refusal } = made;
  if (typeof refusal === 'object') return refuseUnfunded();
  switch (refusal) {
    case 'not_taken':
      return refuse('not_claimable');
    case 'already_accepted':
    case 'already_returned':
    case 'too_large':
    case 'used_for_recovery':
      return refuse('resolved');
    case 'halted':
    case 'key_taken':
    case 'assertion_used':
    case 'unavailable':
      return refuse('unavailable');
    default:
      return assertNever(refusal);
  }

  async function refuseUnfunded() {
    if (await ports.db.transaction((trx) => noteUnfunded(trx, id, requestId))) ports.wakeRelay();
    return refuse('balance' as const);
  }
}

/**
 * Whether what is paid for the invoice now covers all its refunds. A refund that is stored after this is bounded by what is
 * paid then, and every other change makes the sum smaller.
 */
async function isCovered(ports: Pick<Ports, 'bus' | 'db'>, invoiceId: InvoiceId): Promise<boolean> {
  const invoice = await describeInvoice(ports, invoiceId);
  return invoice !== null && (await refundedOf(ports.db, invoiceId)).all <= invoice.paid;
}

/**
 * What is paid: of a deposit its share less the network fee. Undefined when the chain took the deposit back, or other returns
 * have taken too much of it. A refund of all of a deposit takes what they have left.
 */
async function paymentOf(
  { db }: Pick<Ports, 'db'>,
  { depositId, amount, share, requested }: StoredRefund,
  { networkFee }: Pick<PayoutOrder, 'networkFee'>,
): Promise<Pick<PayoutOrder, 'amount' | 'isPart'> | undefined> {
  if (depositId === null) return { amount };
  const deposit = await findUnresolved(db, depositId);
  if (deposit === undefined || deposit.isReversed || deposit.left <= 0n) return undefined;
  const isShort = deposit.left < share;
  if (isShort && requested !== 'deposit') return undefined;
  const takes = isShort ? deposit.left : share;
  return { amount: units(takes - networkFee), isPart: takes < deposit.amount };
}

/** Cancels a claim link. False when it is not claimable. */
export async function cancelClaim(
  { db, wakeRelay }: Pick<Ports, 'db' | 'wakeRelay'>,
  id: RefundId,
): Promise<boolean> {
  const cancelled = await db.transaction((trx) => cancelRefund(trx, id));
  if (cancelled !== undefined) failpoint('payouts.claim_cancelled');
  if (cancelled !== undefined) wakeRelay();
  return cancelled !== undefined;
}

const REFUNDS_PER_STEP_MAX = 100;

/**
 * Ends claim links whose time is over, and follows payouts that a replica of an older release has ended.
 * @returns how many refunds have changed
 */
export async function endRefunds({ db, wakeRelay }: Pick<Ports, 'db' | 'wakeRelay'>): Promise<number> {
  const ended = await db.transaction(async (trx) => {
    const expired = await expireRefunds(trx, REFUNDS_PER_STEP_MAX);
    return expired + (await followPayouts(trx, null, REFUNDS_PER_STEP_MAX));
  });
  if (ended > 0) {
    failpoint('payouts.refunds_ended');
    wakeRelay();
  }
  return ended;
}
