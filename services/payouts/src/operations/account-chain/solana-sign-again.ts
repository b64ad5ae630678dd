import { nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { assertLease, type Lease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { amountOf } from '../../domain/plan.ts';
import { priorityFeeOf } from '../../domain/solana/next-step.ts';
import { transactionPhases } from '../../domain/states.ts';
import type { SolanaPorts } from '../../ports.ts';
import { findPayout } from '../../store/payouts.ts';
import { paymentsOf } from '../../store/replacement-groups.ts';
import { insertSigned, moveTransaction, type Transaction } from '../../store/transactions.ts';
import { invalidateGroup } from '../end-group.ts';
import { sendTransaction } from '../send-transaction.ts';
import type { AccountChainDriver } from './driver.ts';
import { availableLiquidity } from './payment-sources.ts';

/**
 * Signs the next attempt of a payout after it is proved that the newest one can never be mined. One database transaction
 * invalidates the former attempt and stores the next one, so that at most one is valid. When the recipient refuses the
 * payment now, the money goes back. False when this must wait, or was done before.
 */
export async function signAgain(
  ports: SolanaPorts,
  lease: Lease,
  driver: AccountChainDriver,
  expired: Transaction,
): Promise<boolean> {
  const { db, chain, sender, logger, throttledLog } = ports;
  const { group, attempt, asset } = expired;
  const [payment, ...others] = await paymentsOf(db, group);
  invariant(payment !== undefined && others.length === 0, `group ${group} pays one payout`);
  const payout = await findPayout(db, payment.payoutId);
  invariant(payout !== undefined, `payout ${payment.payoutId} is there`);

  const usual = await sender.priorityFee();
  const { tokenAccount: tokenAccountRent } = await sender.rents();
  const order = {
    asset,
    to: payment.address,
    amount: payment.amount,
    tokenAccountRent,
    priorityFee: priorityFeeOf(usual, payout.seq, attempt),
    lifetime: await sender.lifetime(),
  };
  try {
    if ((await sender.tryTransfer(order)) === 'refused') return await invalidateGroup(ports, lease, expired);
  } catch (error) {
    const details = { payout: payout.id, reason: reason(error) };
    throttledLog.log('warn', `again.${payout.id}`, details, 'a payout cannot be signed again yet');
    return false;
  }
  const signed = await sender.signTransfer(order);
  const extra = signed.maxCost - expired.maxCost;
  const native = nativeAsset[chain];
  if (extra > 0n && extra > amountOf((await availableLiquidity(ports, driver, [native])).free, native)) {
    const details = { payout: payout.id, address: sender.hotAddress };
    const message = 'the hot wallet has too little for a higher fee';
    throttledLog.log('error', `again.${payout.id}`, details, message);
    return false;
  }
  const finalHeightWhenSigned = await sender.finalizedHeight();
  const successor = await db.transaction(async (trx) => {
    await assertLease(trx, lease);
    const invalidated = await moveTransaction(trx, expired.id, transactionPhases.open, 'invalidated');
    if (invalidated === undefined) return undefined;
    const stored = await insertSigned(trx, {
      ...expired,
      after: expired,
      chain,
      sweptAddress: null,
      signed,
      fence: lease.token,
      finalHeightWhenSigned,
      validToHeight: signed.validToHeight,
      terms: null,
    });
    failpoint('solana.resigns.signing');
    return stored;
  });
  if (successor === undefined) return false;
  failpoint('solana.resigns.signed');
  const { txHash: transaction, attempt: next } = successor;
  const details = { chain, transaction, instead_of: expired.txHash, attempt: next };
  logger.warn(details, 'a transaction was in no block in its time, the payment is signed again');
  await sendTransaction(ports, successor);
  return true;
}
