import type { Queryable, Trx } from '@quittance/shared/db';
import { brokenConstraint, UnknownOutcome } from '@quittance/shared/db-errors';
import { failpoint } from '@quittance/shared/failpoint';
import type { Answer } from '@quittance/shared/http-answers';
import { forgetKey, type IdempotencyKey, keepAnswer, takeKey } from '@quittance/shared/idempotency';
import { type AccountId, newPayoutId, type PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { appendToOutbox } from '@quittance/shared/outbox';
import { assertNever, ok, type Result, refuse } from '@quittance/shared/result';
import type { PayoutOrder } from '../payout-order.ts';
import type { Ports } from '../ports.ts';
import { insertRequested, movePayout, type NewPayout, type Payout, staleRequests } from '../store/payouts.ts';
import { type KeptRequest, makerOf, proofView } from '../store/request-proofs.ts';
import { DepositTaken, takeOfDeposit } from '../store/returns.ts';
import { AssetHalted } from '../store/transactions.ts';
import { holdRequest, insufficientBalance, refusedView, voidEvent } from '../views.ts';
import { askHold, type HoldAnswer } from './ask-holds.ts';
import { RefundNotTaken, type RefundToPay, takeRefund } from './refund-to-pay.ts';
import { reservePayout } from './reserve-payout.ts';

/** With a million payouts, one drawn id in 280 million is taken. */
const ID_DRAWS_MAX = 3;

type RequestPorts = Pick<Ports, 'db' | 'bus' | 'random' | 'clock' | 'logger' | 'wakeRelay'>;

export type PayoutRequest = PayoutOrder & {
  account: AccountId;
  /** The request that asks for it; null when a rule or a claim link does. */
  request: KeptRequest | null;
  /** The request that has made the rule or the claim link; null where a former release has kept none. */
  madeBy?: KeptRequest | null;
  /** The deposit whose unresolved funds are refunded; none to pay from the balance. */
  returnsDeposit?: string | null;
  /** Whether a rule requests it. */
  isAutomatic?: boolean;
  /** Asked in the transaction that stores the payout: false stores none. */
  isStillWanted?: (trx: Trx) => Promise<boolean>;
  /** The refund that it pays. */
  refund?: RefundToPay | undefined;
  requestId: string;
  key: IdempotencyKey | undefined;
};

/**
 * Why a request creates no payout.
 *
 * | refusal | meaning |
 * |---|---|
 * | `key_taken` | Another request with this idempotency key came first. |
 * | `assertion_used` | The same assertion has created a payout or a refund before. Nothing was done. |
 * | `unavailable` | It is unknown whether the ledger has placed the hold, so this request is never paid. |
 * | `halted` | Payouts of the asset are halted. Nothing was done. |
 * | `not_taken` | The refund is not there to be paid any more, or the payout is not wanted any more. Nothing was done. |
 * | `already_returned` | Other payouts that have not failed refund all of the deposit. |
 * | `too_large` | Other payouts that have not failed, or claim links, leave less of the deposit. |
 * | `already_accepted` | The deposit was accepted into the balance. |
 * | `used_for_recovery` | A part of the deposit was used for a recovery. |
 */
export type PayoutRefusal =
  | 'halted'
  | 'key_taken'
  | 'assertion_used'
  | 'unavailable'
  | 'not_taken'
  | 'already_returned'
  | 'too_large'
  | keyof typeof refusedView
  | InsufficientBalance;

/** The answer, which says what the balance had and what it needs. */
type InsufficientBalance = { insufficientBalance: Answer };

/** Creates a payout when the ledger places its hold: amount and network fee. */
export async function requestPayout(
  ports: RequestPorts,
  request: PayoutRequest,
): Promise<Result<PayoutId, PayoutRefusal>> {
  if (!ports.bus.connected()) return refuse('unavailable');
  const written = await writeRequest(ports, request);
  if (!written.ok) return written;
  const payout = written.value;
  failpoint('payouts.requested');

  const proof = request.request ?? request.madeBy ?? null;
  const asked = await askHold(ports, {
    ...holdRequest(payout, request.requestId, proof && proofView(proof)),
    ...(request.takesAll && { takes_all: true }),
    ...(request.isPart && { is_part: true }),
  });
  const outcome = outcomeOf(asked, request);
  const held = asked.known && request.takesAll ? units(asked.reply.amount ?? payout.amount) : payout.amount;
  failpoint('payouts.held');
  switch (outcome) {
    case 'placed':
      return (await reservePayout(ports, { ...payout, amount: held }, request))
        ? ok(payout.id)
        : refuse('unavailable');
    case 'refused':
      return refuse(await refuseRequest(ports, payout, whyRefused(payout, asked)));
    case 'voided':
    case 'unknown':
      await ports.db.transaction((trx) => voidRequest(trx, payout.id, request.requestId));
      failpoint('payouts.voided');
      ports.wakeRelay();
      return refuse('unavailable');
    default:
      return assertNever(outcome);
  }
}

/** An older ledger that takes no hold of all places one of the least amount and does not tell the amount: it is voided. */
function outcomeOf(asked: HoldAnswer, { takesAll }: Pick<PayoutRequest, 'takesAll'>) {
  if (!asked.known) return 'unknown';
  const { outcome, amount } = asked.reply;
  return takesAll && outcome === 'placed' && amount === undefined ? 'unknown' : outcome;
}

/** Thrown, so that nothing is stored. */
class NotWanted extends Error {
  override name = 'NotWanted';
}

/** Stores the request. Draws another id when a payout has the drawn one already. */
async function writeRequest(
  { db, random }: Pick<RequestPorts, 'db' | 'random'>,
  request: PayoutRequest,
  draws = 1,
): Promise<Result<Payout, Exclude<PayoutRefusal, keyof typeof refusedView | InsufficientBalance>>> {
  const { key, refund, isStillWanted, returnsDeposit = null } = request;
  const ofRefund = { refundId: refund?.id ?? null, invoiceId: refund?.invoiceId ?? null };
  const madeBy = makerOf(request.request ?? request.madeBy ?? null);
  const payout = { ...request, ...ofRefund, returnsDeposit, madeBy, id: newPayoutId(random) };
  try {
    const isAlone = key === undefined && refund === undefined && isStillWanted === undefined;
    if (isAlone && returnsDeposit === null) return ok(await insertUnlessHalted(db, payout));
    const written = await db.transaction(async (trx) => {
      if ((await isStillWanted?.(trx)) === false) throw new NotWanted();
      if (key !== undefined) await takeKey(trx, key, payout.id, null);
      if (refund !== undefined) await takeRefund(trx, refund, payout.id);
      if (returnsDeposit !== null)
        await takeOfDeposit(trx, returnsDeposit, request.amount + request.networkFee, 'payout');
      const inserted = await insertUnlessHalted(trx, payout);
      if (refund !== undefined) failpoint('payouts.refund_taken');
      return inserted;
    });
    return ok(written);
  } catch (error) {
    if (error instanceof AssetHalted) return refuse('halted');
    // No hold is asked for: whether it is stored or not, it is never paid.
    if (error instanceof UnknownOutcome) return refuse('unavailable');
    if (error instanceof RefundNotTaken || error instanceof NotWanted) return refuse('not_taken');
    if (error instanceof DepositTaken) return refuse(error.left > 0n ? 'too_large' : 'already_returned');
    const broken = brokenConstraint(error);
    if (broken === 'idempotency_keys_once') return refuse('key_taken');
    if (broken === 'payouts_assertion_once' || broken === 'refunds_assertion_once')
      return refuse('assertion_used');
    if (broken === 'payouts_one_of_refund') return refuse('not_taken');
    if (broken === 'payouts_id_unique' && draws < ID_DRAWS_MAX) {
      return writeRequest({ db, random }, request, draws + 1);
    }
    throw error;
  }
}

/** Throws AssetHalted, so that the idempotency key is free again. */
async function insertUnlessHalted(db: Queryable, payout: NewPayout): Promise<Payout> {
  const written = await insertRequested(db, payout);
  if (written === undefined) throw new AssetHalted(payout.asset);
  return written;
}

/**
 * Why the ledger refused a hold. A refund is refused because its funds were accepted, unless the ledger gives a reason.
 */
function whyRefused(payout: Payout, asked: HoldAnswer): keyof typeof refusedView | InsufficientBalance {
  const { because, available } = asked.known ? asked.reply : {};
  if (payout.returnsDeposit !== null) return because ?? 'already_accepted';
  return {
    insufficientBalance: insufficientBalance(payout, available === undefined ? undefined : units(available)),
  };
}

/** Stores the refusal as the answer to the same key. Unavailable when the request was voided in between. */
async function refuseRequest(
  { db }: RequestPorts,
  { id }: Payout,
  why: keyof typeof refusedView | InsufficientBalance,
): Promise<PayoutRefusal> {
  const { status, body } = typeof why === 'string' ? refusedView[why] : why.insufficientBalance;
  const refused = await db.transaction(async (trx) => {
    if ((await movePayout(trx, id, ['requested'], 'refused')) === undefined) return false;
    await keepAnswer(trx, id, status, body);
    return true;
  });
  failpoint('payouts.refused');
  return refused ? why : 'unavailable';
}

/** Longer than any request waits for the ledger, so its process has died. */
const STALE_AFTER_MS = 6_000;

/**
 * Voids requests whose process died before the ledger's decision was stored.
 * @returns how many.
 */
export async function voidStaleRequests({
  db,
  logger,
  wakeRelay,
}: Pick<Ports, 'db' | 'logger' | 'wakeRelay'>): Promise<number> {
  const voided = await db.transaction(async (trx) => {
    const ids = await staleRequests(trx, STALE_AFTER_MS);
    for (const id of ids) await voidRequest(trx, id, null);
    if (ids.length > 0) failpoint('payouts.voiding_requests');
    return ids;
  });
  if (voided.length > 0) {
    failpoint('payouts.requests_voided');
    logger.warn({ payouts: voided }, 'voided requests that were never decided');
    wakeRelay();
  }
  return voided.length;
}

/**
 * Voids a request that the ledger has not answered: it can never be paid, and the ledger releases its hold, or refuses
 * the hold when the command arrives late. Its idempotency key can be used again.
 */
async function voidRequest(trx: Trx, id: PayoutId, requestId: string | null): Promise<void> {
  const voided = await movePayout(trx, id, ['requested'], 'voided');
  if (voided === undefined) return;
  await forgetKey(trx, id);
  await appendToOutbox(trx, [voidEvent(voided)], requestId);
}
