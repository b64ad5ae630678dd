import { failpoint } from '@quittance/shared/failpoint';
import type { PayoutId, TokenId } from '@quittance/shared/ids';
import { ok, type Result } from '@quittance/shared/result';
import { type ApprovalDecision, type ApprovalRefusal, applyDecision } from '../domain/approval.ts';
import type { Ports } from '../ports.ts';
import { lockPayout, storeApprovals } from '../store/approvals.ts';
import type { Payout } from '../store/payouts.ts';

/**
 * Approves or rejects a payout that waits for it. The last approval has it signed; after a rejection the chain worker fails it.
 * The same token may say the same again, which changes nothing.
 */
export async function decideApproval(
  { db, logger }: Pick<Ports, 'db' | 'logger'>,
  id: PayoutId,
  decision: ApprovalDecision,
  token: TokenId,
): Promise<Result<Payout, ApprovalRefusal>> {
  const given = await db.transaction(async (trx): Promise<Result<Payout, ApprovalRefusal>> => {
    const { now, ...payout } = await lockPayout(trx, id);
    const applied = applyDecision(payout, decision, token, now);
    if (!applied.ok) return applied;
    return ok(applied.value.isAgain ? payout : await storeApprovals(trx, id, applied.value));
  });
  failpoint('payouts.approval_decided');
  if (given.ok)
    logger.info({ payout: id, token, decision }, 'an API token has given its decision of a payout');
  return given;
}
