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
