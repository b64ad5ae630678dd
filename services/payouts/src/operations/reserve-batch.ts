import type { Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { appendToOutbox } from '@quittance/shared/outbox';
import type { BatchMode } from '../batch-order.ts';
import { decidedTogether } from '../domain/policy.ts';
import { moveRequested } from '../store/payout-batches.ts';
import type { Payout } from '../store/payouts.ts';
import { createdView, eventView } from '../views.ts';
import { decideByPolicy } from './decide-payouts.ts';
import { reserveDecided } from './reserve-payout.ts';

/**
 * Reserves payouts of a batch whose holds are placed, or does with each what the policy of the account says. In the mode
 * `all_or_nothing` all are refused when one is.
 * @returns how many were `requested` until now.
 */
export async function reserveHeld(
  trx: Trx,
  payouts: readonly Payout[],
  { account, mode, requestId }: { account: AccountId; mode: BatchMode; requestId: string },
  now: Date,
): Promise<number> {
  if (payouts.length === 0) return 0;
  const decided = await decideByPolicy(trx, account, payouts);
  if (decided === undefined) {
    const ids = payouts.map(({ id }) => id);
    const reserved = await moveRequested(trx, ids, 'reserved');
    await appendToOutbox(
      trx,
      reserved.map((payout) => ({ kind: 'payout.created', payload: eventView(payout) }) as const),
      requestId,
    );
    return reserved.length;
  }
  const decisions = mode === 'all_or_nothing' ? decidedTogether(decided) : decided;
  let moved = 0;
  for (const [i, payout] of payouts.entries()) {
    const parts = { answer: createdView(payout.id), requestId, refundId: null };
    if (await reserveDecided(trx, payout, decisions[i], parts, now)) moved += 1;
  }
  return moved;
}
