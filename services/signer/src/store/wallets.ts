import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement } from '@quittance/shared/db';

const insertWallet = statement(
  'wallets_insert',
  `insert into wallets (chain, hot_address) values ($1, $2) on conflict do nothing`,
);

/** Records the seed's hot wallet before anything is signed with it; from then on another one is a seed mismatch. */
export const insertWalletOnce = (db: Queryable, chain: Chain, hotAddress: string) =>
  db.rows(insertWallet, [chain, hotAddress]);

const selectOther = query<{ hotAddress: string }>(
  'wallets_other',
  `select hot_address from wallets where chain = $1 and hot_address <> $2`,
);

/** The hot wallet of another seed with which this database was used; undefined when there is none. */
export const otherHotWallet = async (db: Queryable, chain: Chain, hotAddress: string) =>
  (await db.maybe(selectOther, [chain, hotAddress]))?.hotAddress;
