import { crashPoint } from '@quittance/shared/crash';
import type { Trx } from '@quittance/shared/db';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { announce } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import { paidStatuses } from '../domain/payout-state.ts';
import type { ChainPorts } from '../ports.ts';
import { paymentsOf } from '../store/payments.ts';
import { movePayout } from '../store/payouts.ts';
import { invalidateAttempts } from '../store/replacement-groups.ts';
import type { Transaction } from '../store/transaction-rows.ts';
import { markUnswept } from '../store/unswept-deposits.ts';
import { eventView, outcomeView } from '../views.ts';

const NEVER_MINED =
  'The payment could not be sent: its transaction can never be confirmed. The amount and the network fee were returned to your balance.';

/**
 * It is proved that no attempt of a group can ever be mined, and there will be no further one: only now does the
 * money go back. The proof is the caller's: of every attempt that was ever signed, not of the last one alone.
 * `alongside` writes what the chain's own tables say of it, in the same database transaction. False when the group
 * had ended before.
 */
export async function invalidateGroup(
  {
    db,
    chain,
    clock,
    logger,
    announced,
  }: Pick<ChainPorts, 'db' | 'chain' | 'clock' | 'logger' | 'announced'>,
  lease: Lease,
  { group, purpose, wallet, nonce, txHash }: Transaction,
  alongside: (trx: Trx) => Promise<void> = async () => {},
): Promise<boolean> {
  const buried = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    if (!(await invalidateAttempts(trx, group))) return undefined;
    const payments = await paymentsOf(trx, group);
    for (const { payoutId } of payments) {
      const failed = await movePayout(trx, payoutId, paidStatuses, 'failed', {
        failedReason: NEVER_MINED,
      });
      invariant(failed !== undefined, `payout ${payoutId} ended before its transaction did`);
      await announce(trx, [
        { kind: 'hold.release', payload: { ...outcomeView(failed), fee_kept: false } },
        { kind: 'payout.failed', payload: eventView(failed) },
      ]);
    }
    if (purpose === 'sweep') await markUnswept(trx, group, clock.now());
    await alongside(trx);
    crashPoint(`${purpose}s.invalidating`);
    return payments;
  });
  if (buried === undefined) return false;
  crashPoint(`${purpose}s.invalidated`);
  announced();
  const payouts = buried.map(({ payoutId }) => payoutId);
  logger.error({ chain, transaction: txHash, payouts, wallet, nonce }, 'a transaction can never be mined');
  return true;
}
