import { type AssetSymbol, assets, type Chain, nativeAsset } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { add, amountOf, type Liquidity } from './liquidity.ts';

/** A payout in the queue, with the highest fee that the hot wallet may pay for it. */
export type Queued = { asset: AssetSymbol; amount: Units; gasCost: Units };

/** The money of one asset on one deposit address. */
export type Sweepable = {
  asset: AssetSymbol;
  /** What arrives at the hot wallet. */
  net: Units;
  /** The fee that the hot wallet pays for the sweep; 0 when the deposit address pays it. */
  gasCost: Units;
};

/** What the first payout of an asset needs that not even all sweeps could cover, and what there is. */
export type Shortage = { asset: AssetSymbol; has: Units; needs: Units; payouts: number };

export type Plan<Q extends Queued, S extends Sweepable> = {
  pay: Q[];
  sweep: S[];
  /** Payouts that wait for incoming money. */
  waiting: Q[];
  short: Shortage[];
};

/**
 * On an account chain: which payouts are paid now, and which deposits are swept for the next ones. The oldest payout
 * comes first, and money that it waits for is not spent on a later one. A payout that not even all deposits could cover
 * is skipped. `sweepable` are the largest deposits, `beyond` is the sum of the others. A payout that needs those too gets
 * all of `sweepable` now and the rest in later rounds, and so does a payout whose sweeps cost more fees than can be paid
 * now.
 *
 * Native deposits are never swept to pay the fees of token payouts: they belong to merchants, and the operator pays fees.
 */
export function planRun<Q extends Queued, S extends Sweepable>(
  chain: Chain,
  queue: readonly Q[],
  liquidity: Liquidity,
  sweepable: readonly S[],
  beyond: ReadonlyMap<AssetSymbol, Units> = new Map(),
): Plan<Q, S> {
  const native = nativeAsset[chain];
  const { free, incoming } = solvent(liquidity);
  const hidden = new Map(beyond);
  const left = new Map(Map.groupBy(sweepable, (one) => one.asset));
  const plan: Plan<Q, S> = { pay: [], sweep: [], waiting: [], short: [] };

  for (const payout of queue) {
    const needs = needsOf(payout);
    if (needs.every(({ asset, amount }) => amountOf(free, asset) >= amount)) {
      for (const { asset, amount } of needs) add(free, asset, -amount);
      plan.pay.push(payout);
      continue;
    }
    const main = needs[0];
    const held = left.get(main.asset) ?? [];
    const lack = main.amount - amountOf(free, main.asset) - amountOf(incoming, main.asset);
    const worth = worthOf(held);
    const fromHidden = lack > worth ? lack - worth : 0n;
    const isEnough = fromHidden <= amountOf(hidden, main.asset);
    const sweeps = isEnough ? wanted(held, lack) : undefined;
    if (sweeps === undefined) {
      const has =
        amountOf(free, main.asset) + amountOf(incoming, main.asset) + worth + amountOf(hidden, main.asset);
      note(plan.short, { asset: main.asset, has: units(has), needs: main.amount, payouts: 1 });
      continue;
    }
    const gas = gasOf(needs, sweeps);
    const gasThere = amountOf(free, native);
    const now = affordable(needs, sweeps, gasThere);
    if (now === undefined) {
      note(plan.short, { asset: native, has: gasThere, needs: gas, payouts: 1 });
      continue;
    }
    for (const sweep of now) {
      plan.sweep.push(sweep);
      add(free, native, -sweep.gasCost);
    }
    // Sweeps that cannot be paid for yet are reserved for this payout as well.
    for (const sweep of sweeps) add(incoming, main.asset, sweep.net);
    add(hidden, main.asset, -fromHidden);
    add(incoming, main.asset, fromHidden);
    left.set(
      main.asset,
      held.filter((one) => !sweeps.includes(one)),
    );
    for (const { asset, amount } of needs) earmark(free, incoming, asset, amount);
    plan.waiting.push(payout);
  }
  return plan;
}

type Need = { asset: AssetSymbol; amount: Units };

/** What a payout takes from the hot wallet: first its own asset, then the native asset of the fee. */
function needsOf({ asset, amount, gasCost }: Queued): [Need, ...Need[]] {
  if (assets[asset].type === 'native') return [{ asset, amount: units(amount + gasCost) }];
  return [
    { asset, amount },
    { asset: nativeAsset[assets[asset].chain], amount: gasCost },
  ];
}

/**
 * The fewest deposits that bring at least `lack`: the largest ones, and last the smallest one that is enough. Undefined
 * when all deposits together bring less.
 */
export function sweepsFor<S extends Sweepable>(held: readonly S[], lack: Units): S[] | undefined {
  const worth = held
    .filter((one) => one.net > 0n)
    .sort((a, b) => (a.net > b.net ? -1 : a.net < b.net ? 1 : 0));
  const chosen: S[] = [];
  let missing: bigint = lack;
  for (const one of worth) {
    if (missing <= one.net) {
      const stillMissing = missing;
      const last = worth.findLast((small) => small.net >= stillMissing) ?? one;
      return [...chosen, last];
    }
    chosen.push(one);
    missing -= one.net;
  }
  return undefined;
}

/** The sweeps that bring `lack`, or all of them when they bring less. */
function wanted<S extends Sweepable>(held: readonly S[], lack: bigint): S[] {
  if (lack <= 0n) return [];
  return sweepsFor(held, units(lack)) ?? held.filter((one) => one.net > 0n);
}

/** The sweeps whose fees can be paid beside the payout's own fee; undefined when none can, or when its own fee cannot. */
function affordable<S extends Sweepable>(
  needs: readonly Need[],
  sweeps: readonly S[],
  gas: Units,
): S[] | undefined {
  const chosen: S[] = [];
  for (const sweep of sweeps) {
    if (gasOf(needs, [...chosen, sweep]) <= gas) chosen.push(sweep);
  }
  const isEnough = gasOf(needs, chosen) <= gas && (sweeps.length === 0 || chosen.length > 0);
  return isEnough ? chosen : undefined;
}

/** The fees that the hot wallet pays now for a token payout and its sweeps. */
function gasOf([, fee]: readonly Need[], sweeps: readonly Sweepable[]): Units {
  return units(sweeps.reduce((sum, sweep) => sum + sweep.gasCost, fee?.amount ?? 0n));
}

const worthOf = (held: readonly Sweepable[]): bigint =>
  held.reduce((sum, one) => (one.net > 0n ? sum + one.net : sum), 0n);

/** Where more was promised than the hot wallet has, incoming money covers the difference first. */
function solvent({ free, incoming }: Liquidity): Liquidity {
  const settled = { free: new Map(free), incoming: new Map(incoming) };
  for (const [asset, amount] of free) {
    if (amount >= 0n) continue;
    settled.free.set(asset, units(0n));
    add(settled.incoming, asset, amount);
  }
  return settled;
}

function note(short: Shortage[], shortage: Shortage): void {
  const known = short.find((one) => one.asset === shortage.asset);
  if (known === undefined) short.push(shortage);
  else known.payouts += 1;
}

/** Reserves what a waiting payout will need, first of the free money and then of the incoming money. */
function earmark(
  free: Map<AssetSymbol, Units>,
  incoming: Map<AssetSymbol, Units>,
  asset: AssetSymbol,
  amount: Units,
): void {
  const there = amountOf(free, asset);
  const now = there < amount ? there : amount;
  add(free, asset, -now);
  add(incoming, asset, now - amount);
}
