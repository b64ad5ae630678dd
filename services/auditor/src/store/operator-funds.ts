import type { AssetSymbol } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';

/** Why a part of the operator's funds is known: the first measurement, a surplus, or an operator's word. */
export type FundsCause = 'measured' | 'arrived' | 'withdrawn';
export type OperatorFunds = { asset: AssetSymbol; amount: Units; cause: FundsCause; notedAt: Date };

const insert = statement(
  'operator_funds_insert',
  `insert into operator_funds (asset, amount, cause, noted_at) values ($1, $2::numeric, $3, $4)
   on conflict (asset) where cause = 'measured' do nothing`,
);

export async function noteFunds(trx: Trx, { asset, amount, cause, notedAt }: OperatorFunds): Promise<void> {
  await trx.rows(insert, [asset, amount.toString(), cause, notedAt]);
}

const selectFunds = query<OperatorFunds>(
  'operator_funds_all',
  'select asset, amount, cause, noted_at from operator_funds order by seq',
);

/** All that is known of them, in the order in which it was noted. */
export const listFunds = (db: Queryable): Promise<OperatorFunds[]> => db.rows(selectFunds);

const sumFunds = query<{ amount: Units | null }>(
  'operator_funds_sum',
  'select sum(amount) as amount from operator_funds where asset = $1',
);

/** What the operator has of an asset; undefined when it was never measured. */
export const fundsOf = async (db: Queryable, asset: AssetSymbol): Promise<Units | undefined> =>
  (await db.one(sumFunds, [asset])).amount ?? undefined;

export type FundsOfAsset = { asset: AssetSymbol; amount: Units };

const selectSums = query<FundsOfAsset>(
  'operator_funds_sums',
  'select asset, sum(amount) as amount from operator_funds group by asset order by asset',
);

/** What the operator has of each asset that was measured. */
export const sumsOfFunds = (db: Queryable): Promise<FundsOfAsset[]> => db.rows(selectSums);
