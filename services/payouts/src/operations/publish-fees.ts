import type { FeeEstimate } from '@quittance/shared/fee-estimates';
import { reason } from '@quittance/shared/logger';
import type { ChainPorts } from '../ports.ts';

export type PublishFees = (estimates: readonly FeeEstimate[]) => Promise<void>;

/**
 * Tells the ledger what payouts on a chain cost there now: the network fee of the next ones follows it. An asset whose
 * cost cannot be estimated is left out, and its last estimate grows old.
 * @returns whether all of them were published.
 */
export async function publishFees(
  {
    chain,
    assets,
    sender,
    clock,
    throttledLog,
  }: Pick<ChainPorts, 'chain' | 'assets' | 'sender' | 'clock' | 'throttledLog'>,
  publish: PublishFees,
): Promise<boolean> {
  const estimates: FeeEstimate[] = [];
  for (const asset of assets) {
    try {
      const native_cost = (await sender.estimatedFee(asset)).toString();
      estimates.push({ asset, chain, native_cost, as_of: clock.now().toISOString() });
    } catch (error) {
      const details = { chain, asset, reason: reason(error) };
      throttledLog.log('warn', `fees.${asset}`, details, 'the node does not tell what a payout costs');
    }
  }
  if (estimates.length > 0) await publish(estimates);
  return estimates.length === assets.length;
}
