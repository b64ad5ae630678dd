import { failpoint } from '@quittance/shared/failpoint';
import { forgetKey, keepAnswer } from '@quittance/shared/idempotency';
import { type BatchView, batchView, createdBatchView } from '../batch-views.ts';
import type { Ports } from '../ports.ts';
import {
  findBatch,
  linesOf,
  lockUnfinished,
  markFinished,
  type PayoutBatch,
  staleBatches,
} from '../store/payout-batches.ts';

/**
 * Finishes a batch whose payouts are decided, and stores the answer for its key. When nothing came of it, the key can be used
 * again.
 * @returns undefined when a payout is not decided, and when nothing came of it.
 */
export async function finishBatch(
  { db }: Pick<Ports, 'db'>,
  { id }: Pick<PayoutBatch, 'id'>,
): Promise<BatchView | undefined> {
  return await db.transaction(async (trx) => {
    const open = await lockUnfinished(trx, id);
    const batch = open ?? (await findBatch(trx, id));
    if (batch === undefined) return undefined;
    const view = batchView(batch, await linesOf(trx, id));
    const { lines, unavailable, undecided } = view.totals;
    if (undecided > 0) return undefined;
    const isDone = unavailable < lines;
    if (open !== undefined) {
      if (isDone) await keepAnswer(trx, id, 201, createdBatchView(view));
      else await forgetKey(trx, id);
      await markFinished(trx, id);
    }
    return isDone ? view : undefined;
  });
}

/** Longer than a batch takes and than its requests wait until they are voided. Its process has died. */
const STALE_AFTER_MS = 45_000;

/**
 * Finishes batches whose process died, when their requests are decided or voided: the payouts that exist are the answer.
 * @returns how many.
 */
export async function finishStaleBatches(
  { db, logger }: Pick<Ports, 'db' | 'logger'>,
  olderThanMs = STALE_AFTER_MS,
): Promise<number> {
  const stale = await staleBatches(db, olderThanMs);
  for (const { id } of stale) {
    const view = await finishBatch({ db }, { id });
    logger.warn({ batch: id, totals: view?.totals }, 'finished a batch whose request was never answered');
    failpoint('payouts.stale_batch_finished');
  }
  return stale.length;
}
