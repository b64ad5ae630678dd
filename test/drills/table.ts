import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { formatUnits, units } from '@quittance/shared/money';

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
  const all = [['hostile', 'tried', 'lost', 'at most', 'halted after', 'what limits it'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
