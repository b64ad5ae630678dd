import { type AssetSymbol, assets, type Chain, nativeAsset } from '@quittance/shared/assets';
import { type Units, units } from '@quittance/shared/money';
import { add, amountOf, type Liquidity } from './available-liquidity.ts';

/** A payout that waits for its turn, with the most its fee can take from the hot wallet. */
export type Queued = { asset: AssetSymbol; amount: Units; gasCost: Units };

/** The money of one asset on one deposit address. */
export type Sweepable = {
  asset: AssetSymbol;
  /** What arrives at the hot wallet. */
  net: Units;
  /** What the hot wallet pays for the sweep: nothing when the address pays for itself. */
  gasCost: Units;
};

/** The first payout that cannot be paid whatever is swept: what there is of the asset, and what it needs. */
export type Shortage = { asset: AssetSymbol; has: Units; needs: Units; payouts: number };

export type Plan<Q extends Queued, S extends Sweepable> = {
  pay: Q[];
  sweep: S[];
  /** Payouts whose money is on its way. */
  waiting: Q[];
  short: Shortage[];
};

/**
 * On a chain of accounts: which payouts are paid now, and which deposits are swept for the next ones. First come, first served: what an
 * earlier payout waits for is not spent on a later one. One that not even all deposits could cover is passed over.
 * `sweepable` are the largest deposits, `beyond` is what the others come to: a payout that needs those too gets all
 * that is shown now, and its turn comes again. So does one when the fees of its sweeps cannot all be paid at once.
 *
 * Fees of token payouts are not paid by sweeping native money: that belongs to merchants, the fee is ours.
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
    // What cannot be swept yet is set aside for it all the same.
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

/** What a payout takes from the hot wallet: its own asset first, then the native one that pays the fee. */
function needsOf({ asset, amount, gasCost }: Queued): [Need, ...Need[]] {
  if (assets[asset].type === 'native') return [{ asset, amount: units(amount + gasCost) }];
  return [
    { asset, amount },
    { asset: nativeAsset[assets[asset].chain], amount: gasCost },
  ];
}

/**
 * The fewest deposits that bring at least `lack`: the largest ones, and as the last the smallest that is
 * enough. Undefined when all of them are not enough.
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
      const last = worth.slice(chosen.length).findLast((small) => small.net >= stillMissing) ?? one;
      return [...chosen, last];
    }
    chosen.push(one);
    missing -= one.net;
  }
  return undefined;
}

/** The sweeps for what is lacking; all there are when more than they bring is lacking. */
function wanted<S extends Sweepable>(held: readonly S[], lack: bigint): S[] {
  if (lack <= 0n) return [];
  return sweepsFor(held, units(lack)) ?? held.filter((one) => one.net > 0n);
}

/** Those of the sweeps that can be paid for beside the payout itself; undefined when none can, or not even that. */
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

/** What the hot wallet pays in fees, now and out of what it has now, for a token payout and the sweeps before it. */
function gasOf([, fee]: readonly Need[], sweeps: readonly Sweepable[]): Units {
  return units(sweeps.reduce((sum, sweep) => sum + sweep.gasCost, fee?.amount ?? 0n));
}

const worthOf = (held: readonly Sweepable[]): bigint =>
  held.reduce((sum, one) => (one.net > 0n ? sum + one.net : sum), 0n);

/** More was promised than is there: the next that comes fills the hole first. */
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

/** Sets aside what a waiting payout will need: first what is there, then what is coming. */
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
