import type { ActorId } from '@quittance/shared/ids';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { DAY_MS } from './policy.ts';
import { CANCELLED, type PayoutStatus, REJECTED } from './states.ts';

/** A payout that nobody has approved after this time fails. */
export const APPROVE_WITHIN_MS = 7 * DAY_MS;

export const approvalDecisions = ['approved', 'rejected'] as const;
export type ApprovalDecision = (typeof approvalDecisions)[number];
/** What one token or one person has said of a payout. The stored name is that of the first release, whose actors were tokens alone. */
export type GivenDecision = { token: ActorId; decision: ApprovalDecision; at: string };

/** The `failed_reason` of a payout that was not approved in time. */
export const NOT_APPROVED = 'Not approved in time. Nothing was paid.';

/** What its approval depends on. */
export type Approvable = {
  status: PayoutStatus;
  /** Null when it is not known. */
  madeBy: ActorId | null;
  approvalsNeeded: number | null;
  approvals: readonly GivenDecision[];
  approvalExpiresAt: Date | null;
  cancelRequestedAt: Date | null;
};

/**
 * Why a decision is not taken.
 *
 * | refusal | meaning |
 * |---|---|
 * | `no_approval` | The payout has not waited for an approval. |
 * | `own_payout` | The same token, or the same person, has requested the payout. |
 * | `ended` | It is approved, rejected, cancelled, or its time is over. |
 */
export type ApprovalRefusal = 'no_approval' | 'own_payout' | 'ended';

/** The approvals of a payout with this decision, and whether these are enough; `isAgain` when the same one has said the same before. */
export type DecidedApproval = { approvals: readonly GivenDecision[]; isApproved: boolean; isAgain: boolean };

/** Whether a decision is taken. A token or a person approves once, and never what it has requested itself. */
export function applyDecision(
  payout: Approvable,
  decision: ApprovalDecision,
  actor: ActorId,
  now: Date,
): Result<DecidedApproval, ApprovalRefusal> {
  const { status, madeBy, approvalsNeeded, approvals, approvalExpiresAt, cancelRequestedAt } = payout;
  if (approvalsNeeded === null || approvalExpiresAt === null) return refuse('no_approval');
  if (decision === 'approved' && actor === madeBy) return refuse('own_payout');
  const isAgain = approvals.some((one) => one.token === actor && one.decision === decision);
  if (isAgain) return ok({ approvals, isApproved: false, isAgain });
  if (status !== 'awaiting_approval' || cancelRequestedAt !== null || approvalExpiresAt <= now)
    return refuse('ended');
  const all = [...approvals, { token: actor, decision, at: now.toISOString() }];
  const isApproved = decision === 'approved' && approvedBy(all) >= approvalsNeeded;
  return ok({ approvals: all, isApproved, isAgain: false });
}

const approvedBy = (approvals: readonly GivenDecision[]): number =>
  approvals.filter(({ decision }) => decision === 'approved').length;

export const approvalStates = ['waiting', 'approved', 'rejected', 'cancelled', 'expired'] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** What became of the approval of a payout that needs one. */
export function approvalState({
  status,
  approvalsNeeded,
  approvals,
  failedReason,
}: Pick<Approvable, 'status' | 'approvals'> & {
  approvalsNeeded: number;
  failedReason: string | null;
}): ApprovalState {
  if (approvals.some(({ decision }) => decision === 'rejected')) return 'rejected';
  if (status === 'awaiting_approval') return 'waiting';
  if (approvedBy(approvals) >= approvalsNeeded) return 'approved';
  return failedReason === CANCELLED ? 'cancelled' : 'expired';
}

/** Why a payout that is not signed is ended: its merchant asked for it, somebody rejected it, or its time is over. */
export function endOfUnsigned({
  approvals,
  cancelRequestedAt,
}: Pick<Approvable, 'approvals' | 'cancelRequestedAt'>): string {
  if (approvals.some(({ decision }) => decision === 'rejected')) return REJECTED;
  return cancelRequestedAt === null ? NOT_APPROVED : CANCELLED;
}
