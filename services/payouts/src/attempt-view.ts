import { assets, nativeAsset } from '@quittance/shared/assets';
import { formatUnits } from '@quittance/shared/money';
import type { SignedAttempt } from './operations/read-attempts.ts';
import type { PayoutChain } from './ports.ts';
import type { Payout } from './store/payouts.ts';

/**
 * A transaction of a payout as the API shows it. It never contains the signed bytes.
 * @param on the chain that the payout leaves on; undefined when it is not configured any more
 */
export function attemptView(
  attempt: SignedAttempt,
  { asset }: Pick<Payout, 'asset'>,
  on: Pick<PayoutChain, 'explorerUrl'> | undefined,
) {
  const feeAsset = nativeAsset[assets[asset].chain];
  const { decimals } = assets[feeAsset];
  return {
    attempt: attempt.attempt,
    status: attempt.status,
    tx_hash: attempt.txHash,
    explorer_url: on?.explorerUrl(attempt.txHash) ?? null,
    fee_asset: feeAsset,
    fee_max: formatUnits(attempt.maxCost, decimals),
    fee_paid: attempt.feePaid === null ? null : formatUnits(attempt.feePaid, decimals),
    fee_rate: attempt.feeRate,
    block_height: attempt.blockHeight,
    signed_at: attempt.createdAt.toISOString(),
    sent_at: attempt.firstBroadcastAt?.toISOString() ?? null,
  };
}
