import { sleepBy } from '@quittance/shared/clock';
import { isDatabaseDown, UnknownOutcome } from '@quittance/shared/db-errors';
import { failpoint } from '@quittance/shared/failpoint';
import { invariant } from '@quittance/shared/result';
import { CANCELLED, unsignedStatuses } from '../domain/states.ts';
import type { Ports } from '../ports.ts';
import { markCancelRequested } from '../store/cancellations.ts';
import { findPayout, type Payout } from '../store/payouts.ts';

/** Pauses between reads of a payout until the chain worker has decided. A round takes about a second. */
const DECIDED_AFTER_MS = [50, 100, 200, 400, 800, 1_600] as const;
/** How many requests may wait at once. Others get their answer without waiting. */
const WAITING_MAX = 8;

/** How many requests of this replica wait for a chain worker. */
export type WaitingCancellations = { count: number };

/**
 * `requested`: the payout is not signed and the chain worker has not decided. `too_late`: it is signed or has ended, and the
 * request has no effect.
 */
export type PayoutCancellation = { outcome: 'cancelled' | 'requested' | 'too_late'; payout: Payout };

/**
 * Asks that a payout is cancelled, and waits a few seconds for the chain worker, which decides. Only the worker knows
 * whether signing is paused. Asking again has no further effect.
 */
export async function requestCancellation(
  { db, clock }: Pick<Ports, 'db' | 'clock'>,
  waiting: WaitingCancellations,
  { id }: Pick<Payout, 'id'>,
): Promise<PayoutCancellation> {
  await markCancelRequested(db, id);
  failpoint('payouts.cancel_requested');
  const now = async () => {
    try {
      return cancellationOf(await findPayout(db, id));
    } catch (error) {
      // The cancellation is asked for all the same.
      throw isDatabaseDown(error) ? new UnknownOutcome(error) : error;
    }
  };
  const first = await now();
  if (first.outcome !== 'requested' || waiting.count >= WAITING_MAX) return first;
  waiting.count += 1;
  try {
    for (const ms of DECIDED_AFTER_MS) {
      await sleepBy(clock, ms);
      const later = await now();
      if (later.outcome !== 'requested') return later;
    }
    return first;
  } finally {
    waiting.count -= 1;
  }
}

function cancellationOf(payout: Payout | undefined): PayoutCancellation {
  invariant(payout !== undefined, 'a payout is never deleted');
  if (unsignedStatuses.some((status) => status === payout.status)) return { outcome: 'requested', payout };
  const isCancelled = payout.status === 'failed' && payout.failedReason === CANCELLED;
  return { outcome: isCancelled ? 'cancelled' : 'too_late', payout };
}
