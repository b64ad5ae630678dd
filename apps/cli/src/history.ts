import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Queryable } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { type Said, say } from './output.ts';
import { table } from './table.ts';
import type { Moment } from './timeline.ts';

export const amountOf = (text: string, asset: AssetSymbol): string =>
  `${formatUnits(units(text), assets[asset].decimals)} ${asset}`;

/** The name of an account, or its id when gateway does not know it. */
export const accountName = async (db: Queryable, account: string): Promise<string> =>
  (await db.maybe<{ name: string }>('select name from gateway.accounts where id = $1', [account]))?.name ??
  account;

/** What a `show` command prints: the facts, then the history. */
export function history(facts: readonly (readonly [string, string])[], moments: readonly Moment[]): Said {
  const width = Math.max(...facts.map(([name]) => name.length));
  const head = facts.map(([name, value]) => say`${name.padEnd(width)}  ${value}\n`);
  const rows = moments.map(({ at, where, what }) => [at.toISOString(), where, what]);
  return say`${head}\n${table(['WHEN', 'WHERE', 'WHAT'], rows)}`;
}
