import { type Queryable, statement } from '@quittance/shared/db';

const countApplied = statement(
  'migrations_applied',
  `select count(*)::int as applied from migrations where name = any($1::text[])`,
);

/** How many of these migrations the schema has. */
export async function appliedMigrations(db: Queryable, names: readonly string[]): Promise<number> {
  return (await db.one<{ applied: number }>(countApplied, [names])).applied;
}

const selectUnrated = statement(
  'assets_without_rate',
  `select symbol from assets a where active and not exists (select from quotes where asset = a.symbol)
   order by symbol`,
);

/** Active assets that no source has ever given a rate for. */
export async function assetsWithoutRate(db: Queryable): Promise<string[]> {
  return (await db.rows<{ symbol: string }>(selectUnrated)).map(({ symbol }) => symbol);
}
