import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import type { Sweepable } from '../../domain/plan.ts';
import { sweepableDeposits, type UnsweptDeposits } from '../../store/unswept-deposits.ts';
import type { AccountChainPorts, ChainTerms } from './driver.ts';

const CANDIDATES_PER_ASSET = 200;

/** `fee`: the whole fee of the sweep, whoever pays it. */
export type SweepCandidate = Sweepable & { unswept: UnsweptDeposits; fee: Units };

/** Deposits that could be swept, each with what would arrive at the hot wallet. */
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
        // A native sweep pays its own fee. One that costs as much as it brings is not made.
        net: isNative ? units(amount - fee > fee ? amount - fee : 0n) : amount,
        gasCost: isNative ? units(0n) : hotPays,
      });
    }
  }
  return candidates;
}
