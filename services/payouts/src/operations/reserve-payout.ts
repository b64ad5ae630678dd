import { sleepBy } from '@quittance/shared/clock';
import type { Trx } from '@quittance/shared/db';
import { isDatabaseDown } from '@quittance/shared/db-errors';
import { failpoint } from '@quittance/shared/failpoint';
import type { RefundId } from '@quittance/shared/ids';
import { reason } from '@quittance/shared/logger';
import { APPROVE_WITHIN_MS } from '../domain/approval.ts';
import type { PolicyDecision } from '../domain/policy.ts';
import type { Ports } from '../ports.ts';
import { findPayout, type Payout } from '../store/payouts.ts';
import { type Reservation, reserveRequested } from '../store/reservations.ts';
import { createdView, eventView } from '../views.ts';
import { decideByPolicy } from './decide-payouts.ts';
import { type RefundToPay, reserveForRefund } from './refund-to-pay.ts';
import { failPayout } from './transactions.ts';

/** Shorter than the timeout of clients, and than the time after which undecided requests are voided. */
const RESERVE_FOR_MS = 3_000;
const RESERVE_PAUSE_MS = 500;

type ReservePorts = Pick<Ports, 'db' | 'clock' | 'logger' | 'wakeRelay'>;
type Reserving = { requestId: string; refund?: RefundToPay | undefined };

/**
 * Marks the payout as reserved, or as what the policy of its account says: from here on it exists. False when it was voided in
 * between, which releases its hold.
 *
 * A commit whose answer is lost may have succeeded, and a client that gets 503 must never be paid. So this repeats until
 * the result is known. If it is not known in time, it throws, and the client gets a 500, which promises nothing.
 */
export async function reservePayout(
  ports: ReservePorts,
  requested: Payout,
  reserving: Reserving,
): Promise<boolean> {
  const { db, clock, logger } = ports;
  const { id } = requested;
  const deadline = clock.now().getTime() + RESERVE_FOR_MS;
  let moved: boolean | undefined;
  for (let tries = 1; moved === undefined; tries++) {
    try {
      const isMine = await decideAndReserve(ports, requested, reserving);
      // An earlier try, whose answer was lost, may have moved it.
      moved = isMine || (tries > 1 && (await findPayout(db, id))?.status !== 'voided');
    } catch (error) {
      if (!isDatabaseDown(error) || clock.now().getTime() > deadline) {
        const unknown = `payout ${id} has a hold, but it cannot be known whether it was written down`;
        throw new Error(unknown, { cause: error });
      }
      logger.warn({ payout: id, reason: reason(error) }, 'a payout could not be written down, trying again');
      await sleepBy(clock, RESERVE_PAUSE_MS);
    }
  }
  failpoint('payouts.reserved');
  ports.wakeRelay();
  return moved;
}

/** One statement for an account without a policy, because a client waits for it. */
async function decideAndReserve(
  { db, clock }: ReservePorts,
  requested: Payout,
  { requestId, refund }: Reserving,
): Promise<boolean> {
  const now = clock.now();
  const answer = refund?.answer?.() ?? createdView(requested.id);
  const parts = { answer, requestId, refundId: refund?.id ?? null };
  if (refund === undefined) {
    const reservation = { ...reservationOf(requested, undefined, now), answer, requestId, isDecided: false };
    const { isMoved, hasPolicy } = await reserveRequested(db, reservation, now);
    if (isMoved || !hasPolicy) return isMoved;
  }
  return await db.transaction(async (trx) => {
    const [decision] = (await decideByPolicy(trx, requested.account, [requested])) ?? [];
    return await reserveDecided(trx, requested, decision, parts, now);
  });
}

const reservationOf = (requested: Payout, decision: PolicyDecision | undefined, now: Date) => {
  const approval =
    decision?.outcome === 'approval'
      ? { needed: decision.needed, expiresAt: new Date(now.getTime() + APPROVE_WITHIN_MS) }
      : null;
  const reserved: Payout = {
    ...requested,
    status: approval === null ? 'reserved' : 'awaiting_approval',
    version: requested.version + 1,
    approvalsNeeded: approval?.needed ?? null,
    approvalExpiresAt: approval?.expiresAt ?? null,
  };
  return { id: requested.id, amount: requested.amount, created: eventView(reserved), approval };
};

/**
 * Stores what the policy has decided about a payout whose hold is placed; `decision` is undefined without a policy. One that is
 * refused fails in the same transaction: it is there to be read, and its money goes back.
 * @returns false when it is not `requested` any more.
 */
export async function reserveDecided(
  trx: Trx,
  requested: Payout,
  decision: PolicyDecision | undefined,
  { answer, requestId, refundId }: Pick<Reservation, 'answer' | 'requestId'> & { refundId: RefundId | null },
  now: Date,
): Promise<boolean> {
  const { id } = requested;
  const reservation = { ...reservationOf(requested, decision, now), answer, requestId, isDecided: true };
  const isMine =
    refundId === null
      ? (await reserveRequested(trx, reservation, now)).isMoved
      : await reserveForRefund(trx, reservation, refundId, now);
  if (isMine && decision?.outcome === 'refused')
    await failPayout(trx, id, ['reserved'], { failedReason: decision.reason, feeKept: false });
  return isMine;
}
