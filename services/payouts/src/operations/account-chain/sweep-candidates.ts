import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import type { Sweepable } from '../../domain/plan.ts';
import { sweepableDeposits, type UnsweptDeposits } from '../../store/unswept-deposits.ts';
import type { AccountChainPorts, ChainTerms } from './driver.ts';

const CANDIDATES_PER_ASSET = 200;

/** `fee`: all that the network takes for the sweep, from the hot wallet or the deposit. */
export type SweepCandidate = Sweepable & { unswept: UnsweptDeposits; fee: Units };

/** Deposits that could be swept, with what would arrive of them. */
export async function sweepCandidates(
  { db, chain, assets: payable }: Pick<AccountChainPorts, 'db' | 'chain' | 'assets'>,
  terms: Pick<ChainTerms, 'sweepFee'>,
  assetsInUse: Iterable<AssetSymbol>,
): Promise<SweepCandidate[]> {
  const candidates: SweepCandidate[] = [];
  for (const asset of assetsInUse) {
    if (!payable.includes(asset)) continue;
    const { fee, hotPays } = terms.sweepFee(asset);
    const isNative = assets[asset].type === 'native';
    for (const unswept of await sweepableDeposits(db, chain, asset, CANDIDATES_PER_ASSET)) {
      const { amount } = unswept;
      candidates.push({
        asset,
        unswept,
        fee,
        // Native money pays for itself. What costs as much as it brings stays where it is.
        net: isNative ? units(amount - fee > fee ? amount - fee : 0n) : amount,
        gasCost: isNative ? units(0n) : hotPays,
      });
    }
  }
  return candidates;
}
