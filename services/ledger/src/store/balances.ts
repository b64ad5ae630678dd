import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { MerchantBucket } from '../domain/posting.ts';

/** A balance's key: one account, one asset. */
export type BalanceKey = { account: AccountId; asset: AssetSymbol };

const balanceKeys = bulk({ account: 'account_id text', asset: 'text' });

const openMissing = statement(
  'balances_open_missing',
  `insert into balances (account_id, asset)
   select distinct account_id, asset from ${balanceKeys.from('wanted')}
   where not exists (select from balances b where (b.account_id, b.asset) = (wanted.account_id, wanted.asset))
   order by account_id, asset on conflict do nothing`,
);

export type Balance = BalanceKey & Record<MerchantBucket, Units>;

const lock = query<Balance>(
  'balances_lock',
  `select account_id as account, asset, available, held, unresolved from balances
   where (account_id, asset) in (select * from ${balanceKeys.from('wanted')})
   order by account_id, asset for no key update`,
);

/**
 * Locks these balances, all of them and in one order, so that no two transactions wait for each other;
 * those that are missing are opened with zero first. Call it once, before anything else is locked.
 */
export async function lockBalances(trx: Trx, keys: readonly BalanceKey[]): Promise<Balance[]> {
  const values = balanceKeys.values(keys);
  await trx.rows(openMissing, values);
  return await trx.rows(lock, values);
}
