import type { CheckScope } from '@quittance/reconciliation/chain-records';
import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement } from '@quittance/shared/db';

const selectHowFar = statement(
  'chains_how_far',
  `select least(clock_timestamp(), coalesce(max(began_at) filter (where chains -> $1 = 'null'), min(began_at)))
       - $2::int * interval '1 day' as since,
     (select coalesce(array_agg(subject), '{}') from breaches where chain = $1) as suspects
   from checks`,
);

/**
 * What of a chain has to be looked at: so many days before it was compared last, be that long ago because its node was
 * away, and what is known to be wrong, however old: a breach does not heal by growing old.
 */
export const howFarBack = (
  db: Queryable,
  chain: Chain,
  days: number,
): Promise<Required<Pick<CheckScope, 'since' | 'suspects'>>> => db.one(selectHowFar, [chain, days]);
