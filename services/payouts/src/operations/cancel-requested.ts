import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { CANCELLED } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { cancelRequests } from '../store/cancellations.ts';
import { haltedAssets } from '../store/halts.ts';
import { failPayout } from './transactions.ts';

const CANCELS_PER_ROUND = 100;

/**
 * Cancels the payouts of one chain whose merchants asked for it and that are not signed: they fail, and all of their money
 * goes back. The chain worker calls this where it would sign them. Signing and cancelling change the same row from
 * `reserved`, so exactly one of them happens.
 * @param maySign whether the worker may sign now. Our records may not show that a payout was paid, as after a database was
 * restored from a backup. Then it may not, and nothing is cancelled either. Asked only when there is a request.
 * @returns how many were cancelled.
 */
export async function cancelRequested(
  { db, assets, logger, wakeRelay }: Pick<ChainPorts, 'db' | 'assets' | 'logger' | 'wakeRelay'>,
  lease: Lease,
  maySign: () => Promise<boolean>,
): Promise<number> {
  const requested = await cancelRequests(db, assets, CANCELS_PER_ROUND);
  if (requested.length === 0 || !(await maySign())) return 0;
  let cancelled = 0;
  for (const { id, asset } of requested) {
    const isCancelled = await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      if ((await haltedAssets(trx)).has(asset)) return false;
      const failure = { failedReason: CANCELLED, feeKept: false };
      const failed = await failPayout(trx, id, ['reserved'], failure);
      if (failed) failpoint('payouts.failing');
      return failed;
    });
    if (!isCancelled) continue;
    failpoint('payouts.failed');
    wakeRelay();
    cancelled += 1;
    logger.info({ payout: id }, 'a payout was cancelled by its merchant');
  }
  return cancelled;
}
