import { type Queryable, query } from '@quittance/shared/db';
import { newEventId, type PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { assertMoves, payoutMoves } from '../domain/states.ts';

// One statement, because a client waits for it: the move, its event and the answer that its key keeps.
const reserveRequest = query<{ moved: number; hasPolicy: boolean }>(
  'payouts_reserve',
  `with moved as (
     update payouts set status = $7, amount = $6, version = version + 1, updated_at = now(),
       approvals_needed = $8, approval_expires_at = $9
     where id = $1 and status = 'requested'
       and ($10 or not exists (select from payout_policies policy where policy.account_id = payouts.account_id))
     returning id),
   told as (
     insert into outbox (id, kind, payload, request_id)
     select $2, 'payout.created', $3::jsonb, $4 from moved),
   answered as (
     update idempotency_keys set status = 201, body = $5::json
     where resource_id = $1::text and status is null and exists (select from moved))
   select count(*)::int as moved,
     exists (select from payouts join payout_policies using (account_id) where payouts.id = $1) as has_policy
   from moved`,
);

export type Reservation = {
  id: PayoutId;
  /** What the ledger holds without the fee. */
  amount: Units;
  /** The payload of payout.created. */
  created: object;
  /** The body of the 201. */
  answer: object;
  requestId: string;
  /** Whether it waits for approvals: how many, and until when. */
  approval: { needed: number; expiresAt: Date } | null;
  /** Whether the policy of the account has decided about it: without that, one of an account that has a policy is not moved. */
  isDecided: boolean;
};

/**
 * Marks a payout as reserved, or as waiting for approvals, after the ledger has placed its hold. Not moved when it is not
 * `requested` any more, or when the account has a policy that has not decided about it.
 */
export async function reserveRequested(
  db: Queryable,
  reservation: Reservation,
  now: Date,
): Promise<{ isMoved: boolean; hasPolicy: boolean }> {
  const { approval } = reservation;
  const status = approval === null ? 'reserved' : 'awaiting_approval';
  assertMoves(payoutMoves, ['requested'], status);
  const { moved, hasPolicy } = await db.one(reserveRequest, [
    reservation.id,
    newEventId(now),
    JSON.stringify(reservation.created),
    reservation.requestId,
    JSON.stringify(reservation.answer),
    reservation.amount,
    status,
    approval?.needed ?? null,
    approval?.expiresAt ?? null,
    reservation.isDecided,
  ]);
  return { isMoved: moved === 1, hasPolicy };
}
