import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';

const selectOther = query<{ address: string }>(
  'wallets_other_hot',
  `select address from (
     select address from known_hot_wallets where chain = $1
     union
     select address from wallets where chain = $1 and role = 'hot'
   ) as known where address <> $2 limit 1`,
);

/** Another hot wallet with which this database was used; undefined when there is none. */
export const otherHotWallet = async (db: Queryable, chain: Chain, hotAddress: string) =>
  (await db.maybe(selectOther, [chain, hotAddress]))?.address;

const insertWallet = statement(
  'wallets_insert',
  `insert into wallets (chain, address, role, next_nonce) values ($1, $2, $3, $4) on conflict do nothing`,
);

/**
 * Records a wallet before its first signature on a chain. From then on another hot wallet is refused.
 * `firstNonce` is null on chains without nonces.
 */
export async function insertWalletOnce(
  trx: Trx,
  chain: Chain,
  address: string,
  role: 'hot' | 'deposit',
  firstNonce: number | null,
): Promise<void> {
  await trx.rows(insertWallet, [chain, address, role, firstNonce]);
}

const selectNext = query<{ nextNonce: number }>(
  'wallets_next_nonce',
  `select next_nonce::float8 from wallets where chain = $1 and address = $2`,
);

/** The nonce of the wallet's next transaction; undefined for a wallet that has never signed. */
export const nextNonce = async (db: Queryable, chain: Chain, address: string) =>
  (await db.maybe(selectNext, [chain, address]))?.nextNonce;

const raiseNonce = statement(
  'wallets_raise_nonce',
  `update wallets set next_nonce = $3 where chain = $1 and address = $2 and next_nonce < $3 returning address`,
);

/** Skips nonces that others have used in final blocks. True when there were some. */
export const skipUsedNonces = async (trx: Trx, chain: Chain, address: string, finalized: number) =>
  (await trx.rows(raiseNonce, [chain, address, finalized])).length > 0;

/** Records that a nonce is used by a signed transaction. */
export async function passNonce(trx: Trx, chain: Chain, address: string, nonce: number): Promise<void> {
  await trx.rows(raiseNonce, [chain, address, nonce + 1]);
}

const selectHistory = query<{ signature: string | null }>(
  'wallet_histories_one',
  'select signature from wallet_histories where chain = $1 and address = $2',
);

/** The newest checked transaction of a wallet; undefined before the first check. */
export const historyOf = (db: Queryable, chain: Chain, address: string) =>
  db.maybe(selectHistory, [chain, address]);

const moveHistory = statement(
  'wallet_histories_move',
  `insert into wallet_histories (chain, address, signature) values ($1, $2, $3)
   on conflict (chain, address) do update set signature = excluded.signature, updated_at = now()`,
);

/** Stores that everything up to that transaction was checked. Two replicas may check at once. */
export const noteHistory = (db: Queryable, chain: Chain, address: string, signature: string | null) =>
  db.rows(moveHistory, [chain, address, signature]);

const selectUnknown = query<{ hash: string }>(
  'transactions_unknown',
  `select hash from unnest($1::text[]) with ordinality as told(hash, place)
   where not exists (select from transactions where tx_hash = hash) order by place`,
);

/** The hashes of transactions that this database does not have, in their order. */
export async function unknownHashes(db: Queryable, hashes: readonly string[]): Promise<string[]> {
  return (await db.rows(selectUnknown, [hashes])).map(({ hash }) => hash);
}

const selectCursor = query<{ height: number }>(
  'hot_address_cursors_one',
  `select height::float8 from hot_address_cursors where chain = $1`,
);

/** Up to which block payments to the hot address were read; undefined before the first time. */
export async function hotAddressCursor(db: Queryable, chain: Chain): Promise<number | undefined> {
  return (await db.maybe(selectCursor, [chain]))?.height;
}

const moveCursor = statement(
  'hot_address_cursors_move',
  `insert into hot_address_cursors (chain, height) values ($1, $2)
   on conflict (chain) do update set height = greatest(hot_address_cursors.height, excluded.height), updated_at = now()`,
);

export async function moveHotAddressCursor(trx: Trx, chain: Chain, height: number): Promise<void> {
  await trx.rows(moveCursor, [chain, height]);
}
