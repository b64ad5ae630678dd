import { query, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { DecidedApproval } from '../domain/approval.ts';
import { assertMoves, payoutMoves } from '../domain/states.ts';
import { type Payout, payoutColumns } from './payouts.ts';

const lockOne = query<Payout & { now: Date }>(
  'payouts_lock_to_approve',
  `select ${payoutColumns()}, clock_timestamp() as now from payouts where id = $1 for update`,
);

/** A payout with its row locked, so that two decisions come one after the other. */
export const lockPayout = (trx: Trx, id: PayoutId): Promise<Payout & { now: Date }> => trx.one(lockOne, [id]);

const store = query<Payout>(
  'payouts_store_approvals',
  `update payouts set approvals = $2, version = version + 1, updated_at = now(),
     status = case when $3 then 'reserved' else status end,
     approved_at = case when $3 then now() end,
     cancel_requested_at = case when $4 then now() end
   where id = $1 and status = 'awaiting_approval' returning ${payoutColumns()}`,
);

/** Stores a decision. With the last approval the payout is reserved; one that was rejected is ended by the chain worker. */
export function storeApprovals(
  trx: Trx,
  id: PayoutId,
  { approvals, isApproved }: DecidedApproval,
): Promise<Payout> {
  assertMoves(payoutMoves, ['awaiting_approval'], 'reserved');
  const isRejected = approvals.some(({ decision }) => decision === 'rejected');
  return trx.one(store, [id, JSON.stringify(approvals), isApproved, isRejected]);
}
