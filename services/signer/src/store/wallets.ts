import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement } from '@quittance/shared/db';

/** What identifies a wallet. `firstDeposit`: null where the hot wallet does, because both are of one phrase. */
export type KnownWallet = { hotAddress: string; firstDeposit: string | null };

const insertWallet = statement(
  'wallets_insert',
  `insert into wallets (chain, hot_address, first_deposit) values ($1, $2, $3) on conflict do nothing`,
);

/** Records the wallet before anything is signed with it; from then on another one is a seed mismatch. */
export const insertWalletOnce = (db: Queryable, chain: Chain, { hotAddress, firstDeposit }: KnownWallet) =>
  db.rows(insertWallet, [chain, hotAddress, firstDeposit]);

const selectWallet = query<KnownWallet>(
  'wallets_known',
  `select hot_address, first_deposit from wallets where chain = $1`,
);

/** The wallet with which this database was used; undefined when there is none. */
export const knownWallet = (db: Queryable, chain: Chain): Promise<KnownWallet | undefined> =>
  db.maybe(selectWallet, [chain]);
