import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { Cleared } from '../domain/clearance.ts';
import type { Sums } from '../domain/limits.ts';

export type ClearedPayout = {
  payoutId: string;
  accountId: string;
  asset: AssetSymbol;
  amount: Units;
  destination: string;
};

const selectCleared = query<ClearedPayout>(
  'cleared_payouts_of',
  `select payout_id, account_id, asset, amount, destination from cleared_payouts where payout_id = any($1::text[])`,
);

/** Those of these payouts that were cleared, by their ids. */
export async function clearedPayouts(
  db: Queryable,
  payouts: readonly string[],
): Promise<Map<string, ClearedPayout>> {
  const rows = await db.rows(selectCleared, [payouts]);
  return new Map(rows.map((row) => [row.payoutId, row]));
}

const selectFormer = query<{ payoutId: string; destination: string }>(
  'former_destinations_of',
  'select payout_id, destination from former_destinations where payout_id = any($1::text[])',
);

/** Where those of these payouts go that were asked for before the ledger kept that, by their ids. */
export async function formerDestinations(
  db: Queryable,
  payouts: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.rows(selectFormer, [payouts]);
  return new Map(rows.map(({ payoutId, destination }) => [payoutId, destination]));
}

const columns = bulk({
  payoutId: 'text',
  accountId: 'text',
  asset: 'text',
  amount: 'numeric',
  destination: 'text',
  clearedAt: 'timestamptz',
});
const insertCleared = statement('cleared_payouts_insert', columns.insertInto('cleared_payouts'));

export async function insertClearedPayouts(trx: Trx, cleared: readonly Cleared[], at: Date): Promise<void> {
  if (cleared.length === 0) return;
  const rows = cleared.map(({ account, payment: { payout, asset, amount, to } }) => ({
    payoutId: payout,
    accountId: account,
    asset,
    amount,
    destination: to,
    clearedAt: at,
  }));
  await trx.rows(insertCleared, columns.values(rows));
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

type SumsOfAccount = { accountId: string | null } & Pick<Sums, 'ofHour' | 'of24h'>;

// The row without an account is the sum of all.
const selectSums = query<SumsOfAccount>(
  'cleared_payouts_sums',
  `select account_id, coalesce(sum(amount) filter (where cleared_at > $3), 0) as of_hour, coalesce(sum(amount), 0) as "of24h"
   from cleared_payouts where asset = $1 and cleared_at > $2
   group by grouping sets ((), (account_id)) having grouping(account_id) = 1 or account_id = any($4::text[])`,
);

/** What was cleared of an asset before `now`, by account. */
export async function clearedSums(
  db: Queryable,
  asset: AssetSymbol,
  accounts: readonly string[],
  now: Date,
): Promise<(account: string) => Sums> {
  const since = (ms: number) => new Date(now.getTime() - ms);
  const rows = await db.rows(selectSums, [asset, since(DAY_MS), since(HOUR_MS), accounts]);
  const all = rows.find(({ accountId }) => accountId === null);
  const byAccount = new Map(rows.map(({ accountId, of24h }) => [accountId, of24h]));
  const none = 0n as Units;
  return (account) => ({
    ofAccount24h: byAccount.get(account) ?? none,
    ofHour: all?.ofHour ?? none,
    of24h: all?.of24h ?? none,
  });
}
