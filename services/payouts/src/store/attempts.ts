import { type Queryable, query } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { TransactionState } from '../domain/states.ts';

/** A transaction of a payout, without what only signing and sending need. */
export type SignedAttemptRow = {
  attempt: number;
  txHash: string;
  state: TransactionState;
  blockHash: string | null;
  blockHeight: number | null;
  /** What it may cost at most, and what it did, in the chain's native asset. */
  maxCost: Units;
  feePaid: Units | null;
  terms: unknown;
  createdAt: Date;
  firstBroadcastAt: Date | null;
};

const select = query<SignedAttemptRow>(
  'attempts_of_payout',
  `select attempt, tx_hash, state, block_hash, block_height::float8, max_cost, fee_paid, terms, created_at, first_broadcast_at
   from transactions
   where replacement_group = (select replacement_group from payments where payout_id = $1)
   order by attempt desc limit $2`,
);

/** The newest transactions that were signed for a payout, the newest last. */
export const attemptRows = async (
  db: Queryable,
  payout: PayoutId,
  limit: number,
): Promise<SignedAttemptRow[]> => (await db.rows(select, [payout, limit])).toReversed();
