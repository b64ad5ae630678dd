import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { add, type Liquidity, liquidityOf } from '../../domain/liquidity.ts';
import { type Plan, planRun, type Queued, type Sweepable } from '../../domain/plan.ts';
import { type Payout, reservedPayouts } from '../../store/payouts.ts';
import { openSums, sweepsOutsideBlocks } from '../../store/replacement-groups.ts';
import { sweepableDeposits, sweepableSum, type UnsweptDeposits } from '../../store/unswept-deposits.ts';
import type { AccountChainPorts, ChainTerms } from './driver.ts';
import { sweptWhileReading } from './evm-nonces.ts';

/**
 * What the hot wallet can spend. Open transactions are read before balances: a payout that a block includes in between
 * is subtracted twice, which makes us wait, instead of spent twice.
 */
export async function availableLiquidity(
  ports: AccountChainPorts,
  assetsInUse: Iterable<AssetSymbol>,
): Promise<Liquidity> {
  const { db, kind, chain, sender } = ports;
  const sweeps = kind === 'evm' ? await sweepsOutsideBlocks(db, chain) : [];
  const rent = kind === 'solana' ? (await ports.sender.rents()).wallet : undefined;
  const open = await openSums(db, chain, sender.hotAddress);
  const balances = new Map<AssetSymbol, Units>();
  for (const asset of assetsInUse) balances.set(asset, await sender.balance(asset, sender.hotAddress));
  const liquidity = liquidityOf(chain, balances, open);
  const swept = kind === 'evm' ? await sweptWhileReading(ports, sweeps) : [];
  for (const { asset, amount } of swept) add(liquidity.free, asset, -amount);
  // The rent that an account must hold is never available.
  if (rent !== undefined) add(liquidity.free, nativeAsset[chain], -rent);
  return liquidity;
}

const CANDIDATES_PER_ASSET = 200;

/** `fee`: the whole fee of the sweep, whoever pays it. */
type SweepCandidate = Sweepable & { unswept: UnsweptDeposits; fee: Units };

/** Deposits that could be swept, each with what would arrive at the hot wallet. */
export async function sweepCandidates(
  { db, chain, assets: payable }: AccountChainPorts,
  terms: Pick<ChainTerms<unknown>, 'sweepFee'>,
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

/** How many of the oldest payouts of an asset are planned together. */
export const PAYOUTS_PER_ASSET = 50;
/** How many times the next payouts of an asset are added when none of the earlier ones can be paid. */
const PAGES_MAX = 10;

/** What payouts can be paid from: liquidity, sweeps, and the sum of further deposits. */
type PaymentSources = {
  liquidity: Liquidity;
  candidates: readonly SweepCandidate[];
  beyond: Map<AssetSymbol, Units>;
};

/**
 * Plans the oldest payouts. When all payouts of an asset are skipped, the next ones are added, because they may need
 * less. When the largest deposits do not cover a payout, the sum of the other deposits is filled in.
 * @param candidateOf what a payout is expected to need
 */
export async function lookAhead<Q extends Queued & { payout: Payout }>(
  ports: AccountChainPorts,
  oldest: readonly Payout[],
  sources: PaymentSources,
  candidateOf: (payout: Payout) => Q,
): Promise<{ queue: Q[]; plan: Plan<Q, SweepCandidate> }> {
  const { db, chain } = ports;
  let queue = oldest.map(candidateOf);
  const draw = () => planRun(chain, queue, sources.liquidity, sources.candidates, sources.beyond);
  let plan = draw();
  if (plan.short.length > 0) {
    for (const { asset } of plan.short) {
      sources.beyond.set(asset, await amountBeyond(ports, asset, sources.candidates));
    }
    plan = draw();
  }
  for (let page = 1; page < PAGES_MAX; page++) {
    const after = new Map<AssetSymbol, string>();
    for (const [asset, of] of Map.groupBy(queue, (one) => one.asset)) {
      const isPassedOver = ![...plan.pay, ...plan.waiting].some((one) => one.asset === asset);
      const last = of.at(-1)?.payout.seq;
      if (isPassedOver && of.length === page * PAYOUTS_PER_ASSET && last) after.set(asset, last);
    }
    if (after.size === 0) break;
    const next = await reservedPayouts(db, after, PAYOUTS_PER_ASSET);
    if (next.length === 0) break;
    const bySeq = (a: Q, b: Q) => (BigInt(a.payout.seq) < BigInt(b.payout.seq) ? -1 : 1);
    queue = [...queue, ...next.map(candidateOf)].sort(bySeq);
    plan = draw();
  }
  return { queue, plan };
}

/** The sum of the deposits that are not among the largest. */
async function amountBeyond(
  { db, chain }: AccountChainPorts,
  asset: AssetSymbol,
  candidates: readonly SweepCandidate[],
): Promise<Units> {
  const shown = candidates.filter((one) => one.asset === asset);
  // When one of the largest does not pay its fee, smaller ones do not either.
  if (shown.some(({ net }) => net === 0n)) return units(0n);
  const all = await sweepableSum(db, chain, asset);
  const known = shown.reduce((sum, { unswept }) => sum + unswept.amount, 0n);
  return units(all > known ? all - known : 0n);
}
