import type { AssetSymbol } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import type { Liquidity } from '../../domain/available-liquidity.ts';
import { type Plan, planRun, type Queued, type Sweepable } from '../../domain/plan.ts';
import type { ChainPorts } from '../../ports.ts';
import { type Payout, reservedPayouts } from '../../store/payouts.ts';
import { sweepableSum, type UnsweptDeposits } from '../../store/unswept-deposits.ts';

/** So many of the oldest payouts of an asset are looked at together. */
export const PAYOUTS_PER_ASSET = 50;
/** So often the next payouts of an asset are looked at when none of those before them can be paid or waited for. */
const PAGES_MAX = 10;

/** What payouts can be paid from: now, by sweeping, and by sweeping what is not shown yet. */
export type PaymentSources<S> = {
  liquidity: Liquidity;
  candidates: readonly S[];
  beyond: Map<AssetSymbol, Units>;
};

/**
 * A plan for the oldest payouts. When all of one asset are passed over, those behind them are looked at too: they may
 * need less. Fills in what lies on deposits beyond the largest, when those were not enough for a payout.
 * @param candidateOf what a payout is taken to need until its turn comes
 */
export async function lookAhead<
  Q extends Queued & { payout: Payout },
  S extends Sweepable & { unswept: UnsweptDeposits },
>(
  { db, chain }: Pick<ChainPorts, 'db' | 'chain'>,
  oldest: readonly Payout[],
  sources: PaymentSources<S>,
  candidateOf: (payout: Payout) => Q,
): Promise<{ queue: Q[]; plan: Plan<Q, S> }> {
  let queue = oldest.map(candidateOf);
  const draw = () => planRun(chain, queue, sources.liquidity, sources.candidates, sources.beyond);
  let plan = draw();
  if (plan.short.length > 0) {
    for (const { asset } of plan.short) {
      sources.beyond.set(asset, await amountBeyond({ db, chain }, asset, sources.candidates));
    }
    plan = draw();
  }
  for (let page = 1; page < PAGES_MAX; page++) {
    const after = new Map<AssetSymbol, string>();
    for (const [asset, of] of Map.groupBy(queue, (one) => one.asset)) {
      const isPassedOver = ![...plan.pay, ...plan.waiting].some((one) => one.asset === asset);
      const last = of.at(-1)?.payout.seq;
      if (isPassedOver && of.length === page * PAYOUTS_PER_ASSET && last !== undefined)
        after.set(asset, last);
    }
    if (after.size === 0) break;
    const next = await reservedPayouts(db, after, PAYOUTS_PER_ASSET);
    if (next.length === 0) break;
    queue = [...queue, ...next.map(candidateOf)].sort((a, b) =>
      BigInt(a.payout.seq) < BigInt(b.payout.seq) ? -1 : 1,
    );
    plan = draw();
  }
  return { queue, plan };
}

/** What lies on deposits that were not shown because others are larger. */
async function amountBeyond(
  { db, chain }: Pick<ChainPorts, 'db' | 'chain'>,
  asset: AssetSymbol,
  candidates: readonly (Sweepable & { unswept: UnsweptDeposits })[],
): Promise<Units> {
  const shown = candidates.filter((one) => one.asset === asset);
  // Where the largest do not pay their fees, the others do not either.
  if (shown.some(({ net }) => net === 0n)) return units(0n);
  const all = await sweepableSum(db, chain, asset);
  const known = shown.reduce((sum, { unswept }) => sum + unswept.amount, 0n);
  return units(all > known ? all - known : 0n);
}
