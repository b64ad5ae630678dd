import { reason } from '@quittance/shared/logger';
import type { FeeEstimate } from '@quittance/shared/quotes';
import type { ChainPorts } from '../ports.ts';

/**
 * Publishes what payouts on a chain cost now. The ledger computes network fees from it. An asset whose fee the node does
 * not estimate is left out, and its last estimate expires.
 * @returns whether the fees of all assets were published.
 */
export async function publishFees(
  { chain, assets, sender, clock, throttledLog }: ChainPorts,
  publish: (estimates: readonly FeeEstimate[]) => Promise<void>,
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
