import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, query } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import type { OpenSum } from '../domain/available-liquidity.ts';
import { isIn } from './transaction-rows.ts';

// What was dropped from the chain is sent again, and moves its money then. Two queries, for an index each.
const inFlight = `(
  select replacement_group, wallet, nonce, purpose, asset, amount, max_cost, block_hash from transactions
  where chain = $1 and ${isIn('open')}
  union all select replacement_group, wallet, nonce, purpose, asset, amount, max_cost, null from transactions
  where chain = $1 and missing_since is not null) as in_flight`;

// A group counts once, whatever its attempts: by the one that a block includes, else by the least that it may bring and
// the most that it may cost.
const sumOpen = query<OpenSum>(
  'transactions_open_sums',
  `with replacement_groups as (
     select replacement_group, purpose, asset, wallet = $2 as paid_by_hot, bool_or(block_hash is not null) as in_block,
       coalesce(min(amount) filter (where block_hash is not null), min(amount)) as amount, max(max_cost) as max_cost
     from ${inFlight} group by 1, 2, 3, 4)
   select purpose, asset, paid_by_hot, in_block,
     exists (select from unswept_deposits where sweep_id = replacement_group and reversed_at is not null) as has_reversed_deposit,
     sum(amount) as amount, sum(max_cost) as max_cost
   from replacement_groups group by 1, 2, 3, 4, 5`,
);

/** What all signed transactions will move that are open, or that were dropped after their end. */
export const openSums = (db: Queryable, chain: Chain, hotAddress: string): Promise<OpenSum[]> =>
  db.rows(sumOpen, [chain, hotAddress]);

export type OpenSweep = { wallet: string; nonce: number; asset: AssetSymbol; amount: Units };

const selectSweepsOutsideBlocks = query<OpenSweep>(
  'transactions_sweeps_outside_blocks',
  `select wallet, nonce::float8, asset, max(amount) as amount from ${inFlight}
   where purpose = 'sweep'
   group by replacement_group, wallet, nonce, asset having bool_and(block_hash is null)`,
);

/** Sweeps that no block included when they were last asked about. */
export const sweepsOutsideBlocks = (db: Queryable, chain: Chain): Promise<OpenSweep[]> =>
  db.rows(selectSweepsOutsideBlocks, [chain]);
