import { crashPoint } from '@quittance/shared/crash';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { announce } from '@quittance/shared/outbox';
import { invariant } from '@quittance/shared/result';
import type { Ports } from '../ports.ts';
import { markUnswept } from '../store-holdings.ts';
import { movePayout } from '../store-payouts.ts';
import { moveTransaction, skipUsedNonces, type Transaction } from '../store-transactions.ts';
import { outcomeView, toldView } from '../views.ts';

const NEVER_MINED =
  'The payment could not be sent: its transaction can never be confirmed. The amount and the network fee were returned to your balance.';

/**
 * It is proved that a transaction can never be mined: another one with its nonce was found in a
 * block that is final. Only now does the money go back. False when it had ended before.
 */
export async function buryTransaction(
  { db, sender, clock, logger, announced }: Pick<Ports, 'db' | 'sender' | 'clock' | 'logger' | 'announced'>,
  lease: Lease,
  { id, wallet, nonce, purpose, payoutId, txHash }: Transaction,
  finalizedNonce: number,
): Promise<boolean> {
  invariant(finalizedNonce > nonce, 'only a final block proves that a nonce is used up');
  const buried = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const moved = await moveTransaction(trx, id, ['signed', 'broadcast'], 'dead');
    if (moved === undefined) return false;
    if (wallet !== sender.hotAddress) await skipUsedNonces(trx, sender.chain, wallet, finalizedNonce);
    if (payoutId === null) {
      await markUnswept(trx, id, clock.now());
      return true;
    }
    const failed = await movePayout(trx, payoutId, ['signed', 'broadcast'], 'failed', {
      failedReason: NEVER_MINED,
    });
    invariant(failed !== undefined, `payout ${payoutId} ended before its transaction did`);
    await announce(trx, [
      { kind: 'hold.release', payload: { ...outcomeView(failed), fee_kept: false } },
      { kind: 'payout.failed', payload: toldView(failed) },
    ]);
    return true;
  });
  if (!buried) return false;
  crashPoint(`${purpose}s.dead`);
  announced();
  logger.error({ transaction: txHash, payout: payoutId, wallet, nonce }, 'a transaction can never be mined');
  return true;
}
