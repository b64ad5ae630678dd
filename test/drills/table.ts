import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, units } from '@quittance/shared/money';
import { inColumns } from '@quittance/testkit/in-columns';

/** What one hostile service has tried, and what came of it. */
export type Drill = {
  service: string;
  tried: string;
  asset: AssetSymbol;
  /** What the thief's addresses have on the chain. */
  lost: bigint;
  /** The most that the attack may take, by what limits it today. */
  bound: bigint;
  limit: string;
  /** From the first step of the attack to the halt of the asset; undefined: no halt is expected. */
  haltedAfterMs?: number;
};

const shownAmount = (asset: AssetSymbol, amount: bigint): string =>
  `${formatUnits(units(amount), assets[asset].decimals).slice(0, 10)} ${asset}`;

/** A line for each drill. */
export function drillsTable(drills: readonly Drill[]): string {
  const rows = drills.map(({ service, tried, asset, lost, bound, limit, haltedAfterMs }) => [
    service,
    tried,
    shownAmount(asset, lost),
    shownAmount(asset, bound),
    haltedAfterMs === undefined ? '-' : `${Math.round(haltedAfterMs / 1000)} s`,
    limit,
  ]);
  const head = ['hostile', 'tried', 'lost', 'at most', 'halted after', 'what limits it'];
  return inColumns([head, ...rows]).join('\n');
}
