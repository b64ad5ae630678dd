import type { EvmFees } from '@quittance/chains/chain';
import { TOKEN_SWEEP_GAS } from '@quittance/chains/evm/sender';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import type { Sweepable } from '../../domain/plan.ts';
import type { EvmPorts } from '../../ports.ts';
import { type Holding, sweepableHoldings } from '../../store-holdings.ts';
import { NATIVE_SWEEP_GAS } from './sign-sweep.ts';

const HOLDINGS_PER_ASSET = 200;

export type Treasure = Sweepable & { holding: Holding };

/** Deposits that could be swept, with what would arrive of them. */
export async function lookForTreasures(
  { db, chain, assets: payable }: EvmPorts,
  assetsInUse: Iterable<AssetSymbol>,
  { maxFeePerGas }: EvmFees,
): Promise<Treasure[]> {
  const treasures: Treasure[] = [];
  for (const asset of assetsInUse) {
    if (!payable.includes(asset)) continue;
    for (const holding of await sweepableHoldings(db, chain, asset, HOLDINGS_PER_ASSET)) {
      const paysItself = assets[asset].type === 'native';
      const ownFee = paysItself ? NATIVE_SWEEP_GAS * maxFeePerGas : 0n;
      const net = holding.amount - ownFee;
      treasures.push({
        asset,
        holding,
        // What costs as much as it brings is left where it is.
        net: units(net > ownFee ? net : 0n),
        gasCost: units(paysItself ? 0n : TOKEN_SWEEP_GAS * maxFeePerGas),
      });
    }
  }
  return treasures;
}
