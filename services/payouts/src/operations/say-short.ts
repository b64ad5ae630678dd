import { assets } from '@quittance/shared/assets';
import { formatUnits } from '@quittance/shared/money';
import type { Shortage } from '../domain/plan.ts';
import type { ChainPorts } from '../ports.ts';

/** Tells an operator which payouts wait for money that the hot wallet does not have, whatever is swept. */
export function sayShort(
  { chain, sender, notices }: Pick<ChainPorts, 'chain' | 'sender' | 'notices'>,
  { asset, has, needs, payouts }: Shortage,
): void {
  const { decimals } = assets[asset];
  const said = {
    chain,
    address: sender.hotAddress,
    asset,
    // On Solana below zero when something is promised, or the account must keep it.
    has: formatUnits(has, decimals),
    needs: formatUnits(needs, decimals),
    payouts,
  };
  notices.say('error', `short.${asset}`, said, `payouts wait: the hot wallet has too little ${asset}`);
}
