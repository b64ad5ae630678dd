import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { invariant } from '@quittance/shared/result';
import { paidStatuses } from '../domain/states.ts';
import type { ChainPorts } from '../ports.ts';
import { invalidateAttempts, paymentsOf } from '../store/replacement-groups.ts';
import type { Transaction } from '../store/transactions.ts';
import { markUnswept } from '../store/unswept-deposits.ts';
import { failPayout } from './fail-payout.ts';

const NEVER_MINED =
  'The payment could not be sent: its transaction can never be confirmed. The amount and the network fee were returned to your balance.';

/**
 * Ends a group after the caller has proved that no attempt of it can ever be mined, of all attempts that were ever
 * signed. Only now does the money go back. `alongside` updates the tables of one kind of chain in the same database
 * transaction. False when the group had ended before.
 */
export async function invalidateGroup(
  {
    db,
    chain,
    clock,
    logger,
    wakeRelay,
  }: Pick<ChainPorts, 'db' | 'chain' | 'clock' | 'logger' | 'wakeRelay'>,
  lease: Lease,
  { group, purpose, wallet, nonce, txHash }: Transaction,
  alongside: (trx: Trx) => Promise<void> = async () => {},
): Promise<boolean> {
  const invalidated = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if (!(await invalidateAttempts(trx, group))) return undefined;
    const payments = await paymentsOf(trx, group);
    for (const { payoutId } of payments) {
      const hasFailed = await failPayout(trx, payoutId, paidStatuses, {
        failedReason: NEVER_MINED,
        feeKept: false,
      });
      invariant(hasFailed, `payout ${payoutId} ended before its transaction did`);
    }
    if (purpose === 'sweep') await markUnswept(trx, group, clock.now());
    await alongside(trx);
    failpoint(`${purpose}s.invalidating`);
    return payments;
  });
  if (invalidated === undefined) return false;
  failpoint(`${purpose}s.invalidated`);
  wakeRelay();
  const payouts = invalidated.map(({ payoutId }) => payoutId);
  logger.error({ chain, transaction: txHash, payouts, wallet, nonce }, 'a transaction can never be mined');
  return true;
}
