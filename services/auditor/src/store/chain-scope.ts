import type { CheckScope } from '@quittance/reconciliation/chain-records';
import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement } from '@quittance/shared/db';

const selectHowFar = statement(
  'chain_scope',
  `select least(clock_timestamp(), coalesce(max(began_at) filter (where chains -> $1 = 'null'), min(began_at)))
       - $2::int * interval '1 day' as since,
     (select coalesce(array_agg(subject), '{}') from discrepancies where chain = $1) as suspects
   from checks`,
);

/**
 * What a comparison with a chain has to check: everything since so many days before the last comparison, and each known
 * discrepancy, however old it is.
 */
export const chainScope = (
  db: Queryable,
  chain: Chain,
  days: number,
): Promise<Required<Pick<CheckScope, 'since' | 'suspects'>>> => db.one(selectHowFar, [chain, days]);
