import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement } from '@quittance/shared/db';
import { type Units, units } from '@quittance/shared/money';
import type { OpenSum } from '../domain/available-liquidity.ts';
import { isIn } from './transaction-rows.ts';

// What left the chain is sent again, and moves its money then. Two queries, for an index each.
const underWay = `(
  select family, wallet, nonce, purpose, asset, amount, max_cost, block_hash from transactions
  where chain = $1 and ${isIn('open')}
  union all select family, wallet, nonce, purpose, asset, amount, max_cost, null from transactions
  where chain = $1 and missing_since is not null) as under_way`;

// A group counts once, whatever its attempts: by the one that is in a block, else by the least it brings and the most
// it may cost.
const sumOpen = statement(
  'transactions_open_sums',
  `with families as (
     select family, purpose, asset, wallet = $2 as paid_by_hot, bool_or(block_hash is not null) as in_block,
       coalesce(min(amount) filter (where block_hash is not null), min(amount)) as amount, max(max_cost) as max_cost
     from ${underWay} group by 1, 2, 3, 4)
   select purpose, asset, paid_by_hot, in_block,
     exists (select from holdings where sweep_id = family and reversed_at is not null) as doubtful,
     sum(amount) as amount, sum(max_cost) as max_cost
   from families group by 1, 2, 3, 4, 5`,
);

const selectSweepsInNoBlock = statement(
  'transactions_sweeps_in_no_block',
  `select wallet, nonce, asset, max(amount) as amount from ${underWay}
   where purpose = 'sweep'
   group by family, wallet, nonce, asset having bool_and(block_hash is null)`,
);

export type OpenSweep = { wallet: string; nonce: number; asset: AssetSymbol; amount: Units };

/** Sweeps that were in no block when they were last looked at. */
export async function sweepsInNoBlock(db: Queryable, chain: Chain): Promise<OpenSweep[]> {
  const rows = await db.rows<{ wallet: string; nonce: string; asset: AssetSymbol; amount: string }>(
    selectSweepsInNoBlock,
    [chain],
  );
  return rows.map(({ wallet, nonce, asset, amount }) => ({
    wallet,
    nonce: Number(nonce), // eslint-disable-line no-restricted-syntax -- a nonce counts transactions
    asset,
    amount: units(amount),
  }));
}

type SumRow = {
  purpose: 'payout' | 'sweep';
  asset: AssetSymbol;
  paid_by_hot: boolean;
  in_block: boolean;
  doubtful: boolean;
  amount: string;
  max_cost: string;
};

/** What all signed transactions will move whose end is open, or that have left the chain after it. */
export async function openSums(db: Queryable, chain: Chain, hotAddress: string): Promise<OpenSum[]> {
  return (await db.rows<SumRow>(sumOpen, [chain, hotAddress])).map((row) => ({
    purpose: row.purpose,
    asset: row.asset,
    paidByHot: row.paid_by_hot,
    inBlock: row.in_block,
    doubtful: row.doubtful,
    amount: units(row.amount),
    maxCost: units(row.max_cost),
  }));
}
