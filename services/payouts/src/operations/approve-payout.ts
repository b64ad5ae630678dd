import { failpoint } from '@quittance/shared/failpoint';
import type { ActorId, PayoutId } from '@quittance/shared/ids';
import { ok, type Result } from '@quittance/shared/result';
import { type ApprovalDecision, type ApprovalRefusal, applyDecision } from '../domain/approval.ts';
import type { Ports } from '../ports.ts';
import { lockPayout, storeApprovals } from '../store/approvals.ts';
import type { Payout } from '../store/payouts.ts';

/**
 * Approves or rejects a payout that waits for it. The last approval has it signed; after a rejection the chain worker fails it.
 * The same token or person may say the same again, which changes nothing.
 */
export async function decideApproval(
  { db, logger }: Pick<Ports, 'db' | 'logger'>,
  id: PayoutId,
  decision: ApprovalDecision,
  actor: ActorId,
): Promise<Result<Payout, ApprovalRefusal>> {
  const given = await db.transaction(async (trx): Promise<Result<Payout, ApprovalRefusal>> => {
    const { now, ...payout } = await lockPayout(trx, id);
    const applied = applyDecision(payout, decision, actor, now);
    if (!applied.ok) return applied;
    return ok(applied.value.isAgain ? payout : await storeApprovals(trx, id, applied.value));
  });
  failpoint('payouts.approval_decided');
  if (given.ok)
    logger.info({ payout: id, actor, decision }, 'an API token or a person has decided about a payout');
  return given;
}
