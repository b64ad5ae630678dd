import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';

const upsert = statement(
  'passed_checks_upsert',
  `insert into passed_checks (asset, began_at)
   select a.asset, c.began_at from checks c, unnest($2::text[]) as a (asset)
   where c.seq = $1 and not exists (
     select from discrepancies d
     where d.pauses_payouts and d.accepted_at is null and (d.asset is null or d.asset = a.asset))
   on conflict (asset) do update set began_at = excluded.began_at`,
);

/**
 * Stores that a check has compared everything of these assets, for those of them without a discrepancy. The discrepancies of
 * the check must be stored: one that an earlier check has found, and that is not resolved, counts too.
 */
export async function notePassed(trx: Trx, check: string, assets: readonly AssetSymbol[]): Promise<void> {
  await trx.rows(upsert, [check, assets]);
}

export type PassedCheck = { asset: AssetSymbol; beganAt: Date };

const selectAll = query<PassedCheck>('passed_checks_all', 'select asset, began_at from passed_checks');

/** Of each asset that ever passed one, the newest. */
export const passedChecks = (db: Queryable): Promise<PassedCheck[]> => db.rows(selectAll);
