import { feesAt } from '@quittance/chains/solana/transaction';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import type { Sweepable } from '../../domain/plan.ts';
import type { SolanaPorts } from '../../ports.ts';
import { type Holding, sweepableHoldings } from '../../store-holdings.ts';

const HOLDINGS_PER_ASSET = 200;

/** `fee`: all that the network takes for it, whoever pays. */
export type Treasure = Sweepable & { holding: Holding; fee: Units };

/** Deposits that could be swept, with what would arrive of them. */
export async function lookForTreasures(
  { db, chain, assets: payable }: Pick<SolanaPorts, 'db' | 'chain' | 'assets'>,
  assetsInUse: Iterable<AssetSymbol>,
  unitPrice: bigint,
  tokenAccountRent: Units,
): Promise<Treasure[]> {
  const fees = feesAt(unitPrice).sweep;
  const treasures: Treasure[] = [];
  for (const asset of assetsInUse) {
    if (!payable.includes(asset)) continue;
    const isNative = assets[asset].type === 'native';
    const fee = isNative ? fees.native.hot : fees.token;
    for (const holding of await sweepableHoldings(db, chain, asset, HOLDINGS_PER_ASSET)) {
      // Native money pays for itself in the plan, whoever pays for it in the chain.
      const net = isNative ? holding.amount - fee : holding.amount;
      treasures.push({
        asset,
        holding,
        fee,
        // What costs as much as it brings is left where it is.
        net: units(!isNative || net > fee ? net : 0n),
        // The hot wallet's account may have to be opened.
        gasCost: units(isNative ? 0n : fee + tokenAccountRent),
      });
    }
  }
  return treasures;
}
