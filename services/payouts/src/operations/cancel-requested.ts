import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { endOfUnsigned } from '../domain/approval.ts';
import { unsignedStatuses } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { cancelRequests } from '../store/cancellations.ts';
import { haltedAssets } from '../store/halts.ts';
import { failPayout } from './transactions.ts';

const CANCELS_PER_ROUND = 100;

type CancelPorts = Pick<ChainPorts, 'db' | 'chain' | 'assets' | 'logger' | 'throttledLog' | 'wakeRelay'>;

/**
 * Cancels the payouts of one chain that are not signed and whose merchants asked for it, rejected them, or did not approve
 * them in time: they fail, and all of their money goes back. The chain worker calls this where it would sign them. Signing,
 * approving and cancelling change the status of the same row, so exactly one of them happens.
 * @param mayCancel whether the worker may sign now, and the mempool shows nothing that our records do not. They may not show
 * that a payout was paid, as after a database was restored from a backup. Asked only when there is a request. When the node
 * cannot tell, nothing is cancelled, and others are paid.
 * @returns how many were cancelled.
 */
export async function cancelRequested(
  { db, chain, assets, logger, throttledLog, wakeRelay }: CancelPorts,
  lease: Lease,
  mayCancel: () => Promise<boolean>,
): Promise<number> {
  const requested = await cancelRequests(db, assets, CANCELS_PER_ROUND);
  if (requested.length === 0) return 0;
  try {
    if (!(await mayCancel())) return 0;
  } catch (error) {
    const details = { chain, reason: reason(error) };
    throttledLog.log('warn', `cancel.${chain}`, details, 'payouts could not be cancelled, trying again');
    return 0;
  }
  let cancelled = 0;
  for (const payout of requested) {
    const { id, asset } = payout;
    const failedReason = endOfUnsigned(payout);
    const isCancelled = await db.transaction(async (trx) => {
      await assertLease(trx, lease);
      if ((await haltedAssets(trx)).has(asset)) return false;
      const from = unsignedStatuses.filter((status) => status === payout.status);
      const isMine = await failPayout(trx, id, from, { failedReason, feeKept: false });
      if (isMine) failpoint('payouts.cancelling');
      return isMine;
    });
    if (!isCancelled) continue;
    failpoint('payouts.cancelled');
    wakeRelay();
    cancelled += 1;
    logger.info(
      { payout: id, reason: failedReason },
      'a payout was cancelled, rejected or not approved in time',
    );
  }
  return cancelled;
}
