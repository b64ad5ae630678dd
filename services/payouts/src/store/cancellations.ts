import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import { type Payout, payoutColumns } from './payouts.ts';

const markRequested = statement(
  'payouts_request_cancel',
  `update payouts set cancel_requested_at = now(), version = version + 1, updated_at = now()
   where id = $1 and status in ('awaiting_approval', 'reserved') and cancel_requested_at is null`,
);

/** Stores the request to cancel a payout; nothing when it is signed or has ended, or was requested before. */
export async function markCancelRequested(db: Queryable, id: PayoutId): Promise<void> {
  await db.rows(markRequested, [id]);
}

const selectRequested = query<Payout>(
  'payouts_cancel_requested',
  `select ${payoutColumns()} from (
     select * from payouts where status = 'reserved' and cancel_requested_at is not null and asset = any($1)
     union all
     select * from payouts
     where status = 'awaiting_approval' and asset = any($1)
       and (cancel_requested_at is not null or approval_expires_at <= now())) as payouts
   order by seq limit $2`,
);

/** The oldest unsigned payouts of these assets that shall be cancelled, were rejected, or were not approved in time. */
export const cancelRequests = (db: Queryable, of: readonly AssetSymbol[], limit: number) =>
  db.rows(selectRequested, [of, limit]);
