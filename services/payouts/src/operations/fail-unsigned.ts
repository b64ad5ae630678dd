import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { announce } from '@quittance/shared/outbox';
import type { Ports } from '../ports.ts';
import { movePayout, type Payout } from '../store/payouts.ts';
import { eventView, outcomeView } from '../views.ts';

const RECIPIENT_REFUSES =
  'The recipient address does not accept this payment. The amount and the network fee were returned to your balance.';

/** Fails a payout that its recipient would refuse. Nothing was signed for it, so all of its money goes back. */
export async function failUnsigned(
  { db, logger, announced }: Pick<Ports, 'db' | 'logger' | 'announced'>,
  lease: Lease,
  { id }: Payout,
): Promise<void> {
  await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const failed = await movePayout(trx, id, ['reserved'], 'failed', { failedReason: RECIPIENT_REFUSES });
    if (failed === undefined) return;
    await announce(trx, [
      { kind: 'hold.release', payload: { ...outcomeView(failed), fee_kept: false } },
      { kind: 'payout.failed', payload: eventView(failed) },
    ]);
    crashPoint('payouts.failing');
  });
  crashPoint('payouts.failed');
  announced();
  logger.info({ payout: id }, 'a payout failed, its recipient would refuse it');
}
