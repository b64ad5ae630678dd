import type { TransactionStatus } from '@quittance/chains/chain';
import { feesAt } from '@quittance/chains/solana/transaction';
import { assets, nativeAsset } from '@quittance/shared/assets';
import { failpoint } from '@quittance/shared/failpoint';
import { type Lease, renewLease } from '@quittance/shared/lease';
import { reason } from '@quittance/shared/logger';
import { assertNever, invariant } from '@quittance/shared/result';
import { amountOf } from '../../domain/liquidity.ts';
import { needsExpiryProof, nextSolanaStep, priorityFeeOf } from '../../domain/solana/next-step.ts';
import type { SolanaPorts } from '../../ports.ts';
import { findPayout } from '../../store/payouts.ts';
import { isNewest, paymentsOf } from '../../store/replacement-groups.ts';
import { hasPlan, plannedAfter } from '../../store/signing-plans.ts';
import { newestOf, type ReplacementGroup, type Transaction } from '../../store/transactions.ts';
import { signPlanned } from '../sign-planned.ts';
import { expireSweep, invalidateGroup, sendTransaction, settleTransaction } from '../transactions.ts';
import type { TransactionTracker } from './follow-transactions.ts';
import { availableLiquidity } from './payment-sources.ts';

/** What the chain shows of the newest attempt: only this one can still be mined. */
type SolanaLook = { seen: TransactionStatus; isExpired: boolean };

/**
 * Follows transactions by their signatures. One that no finalized block includes while it is valid can never be mined.
 * Only when that is proved, the same payment is signed again.
 */
export const solanaTracker = (ports: SolanaPorts, lease: Lease): TransactionTracker<'any', SolanaLook> => ({
  // On Solana the transactions of a wallet do not wait for each other.
  progressOf: async () => 'any',
  look: (group) => askAbout(ports, group),
  act: (group, look) => follow(ports, lease, group, look),
});

async function askAbout(
  { sender, clock, settings }: SolanaPorts,
  group: ReplacementGroup,
): Promise<SolanaLook> {
  const newest = newestOf(group);
  const { txHash, validToHeight, finalHeightWhenSigned } = newest;
  invariant(validToHeight !== null, `${txHash} is valid for ever`);
  invariant(finalHeightWhenSigned !== null, `it is not known where a search for ${txHash} begins`);
  const seen = await sender.status(txHash);
  const isExpired =
    needsExpiryProof(newest, seen, clock.now(), settings.gracePeriods) &&
    (await sender.nonInclusion(txHash, validToHeight, finalHeightWhenSigned)) === 'proven';
  return { seen, isExpired };
}

/** Whether the group moved on. */
async function follow(
  ports: SolanaPorts,
  lease: Lease,
  group: ReplacementGroup,
  { seen, isExpired }: SolanaLook,
): Promise<boolean> {
  const newest = newestOf(group);
  const step = nextSolanaStep(newest, seen, isExpired, ports.clock.now(), ports.settings.gracePeriods);
  switch (step.is) {
    case 'in_block':
    case 'sent':
      return false;
    case 'to_send':
      await sendTransaction(ports, newest);
      return false;
    case 'settled':
      invariant(seen.state === 'mined', 'only what is in a block is settled');
      return settleTransaction(ports, lease, newest, seen);
    case 'expired':
      return afterExpiry(ports, lease, newest);
    default:
      return assertNever(step);
  }
}

/** A payout is signed again within its group. Deposits are planned again, because there may be more of them by now. */
async function afterExpiry(ports: SolanaPorts, lease: Lease, expired: Transaction): Promise<boolean> {
  if (ports.signingPause.reason !== undefined) return false;
  // Its next attempt may be signed already, so the group must not end.
  if (await hasPlan(ports.db, ports.chain)) return false;
  await renewLease(ports.db, lease);
  if (expired.purpose === 'sweep') return expireSweep(ports, lease, expired);
  return ports.assets.includes(expired.asset) && signAgain(ports, lease, expired);
}

/**
 * Has the next attempt of a payout signed after it is proved that the newest one can never be mined. One database transaction
 * invalidates the former attempt and stores the next one, so that at most one is valid. When the recipient refuses the
 * payment now, the money goes back. False when this must wait, or was done before.
 */
async function signAgain(ports: SolanaPorts, lease: Lease, expired: Transaction): Promise<boolean> {
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
  const { type } = assets[asset];
  const fee = feesAt(order.priorityFee).transfer[type];
  const extra = (type === 'token' ? fee + tokenAccountRent : fee) - expired.maxCost;
  const native = nativeAsset[chain];
  if (extra > 0n && extra > amountOf((await availableLiquidity(ports, [native])).free, native)) {
    const details = { payout: payout.id, address: sender.hotAddress };
    const message = 'the hot wallet has too little for a higher fee';
    throttledLog.log('error', `again.${payout.id}`, details, message);
    return false;
  }
  const finalHeightWhenSigned = await sender.finalizedHeight();
  const planned = plannedAfter<'solana'>(expired, {
    order: { is: 'transfer', hot: sender.hotAddress, ...order },
    payments: [payment],
    swept: null,
    finalHeightWhenSigned,
    validToHeight: order.lifetime.lastValidBlockHeight,
  });
  const [successor] = await signPlanned(ports, lease, [planned], (trx) => isNewest(trx, expired));
  if (successor === undefined) return false;
  failpoint('solana.resigns.signed');
  const { txHash: transaction, attempt: next } = successor;
  const details = { chain, transaction, instead_of: expired.txHash, attempt: next };
  logger.warn(details, 'a transaction was in no block in its time, the payment is signed again');
  await sendTransaction(ports, successor);
  return true;
}
