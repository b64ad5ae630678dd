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

/** The hot wallet of another seed with which this database was used; undefined when there is none. */
export async function otherHotWallet(
  db: Queryable,
  chain: Chain,
  hotAddress: string,
): Promise<string | undefined> {
  return (await db.maybe(selectOther, [chain, hotAddress]))?.address;
}

const insertKnown = statement(
  'known_hot_wallets_insert',
  `insert into known_hot_wallets (chain, address) values ($1, $2) on conflict do nothing`,
);

/** Records the seed's hot wallet before anything is signed with it; from then on another one is a seed mismatch. */
export async function insertKnownHotWalletOnce(
  db: Queryable,
  chain: Chain,
  hotAddress: string,
): Promise<void> {
  await db.rows(insertKnown, [chain, hotAddress]);
}

const insertWallet = statement(
  'wallets_insert',
  `insert into wallets (chain, address, role, next_nonce) values ($1, $2, $3, $4) on conflict do nothing`,
);

/**
 * Records a wallet before its first signature on a chain. From then on another hot wallet is a seed mismatch.
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
export async function nextNonce(db: Queryable, chain: Chain, address: string): Promise<number | undefined> {
  return (await db.maybe(selectNext, [chain, address]))?.nextNonce;
}

const raiseNonce = statement(
  'wallets_raise_nonce',
  `update wallets set next_nonce = $3 where chain = $1 and address = $2 and next_nonce < $3 returning address`,
);

/** Skips nonces that others have used in final blocks. True when there were some. */
export async function skipUsedNonces(
  trx: Trx,
  chain: Chain,
  address: string,
  finalized: number,
): Promise<boolean> {
  return (await trx.rows(raiseNonce, [chain, address, finalized])).length > 0;
}

const takeNext = query<{ nonce: number }>(
  'wallets_take_nonce',
  `update wallets set next_nonce = next_nonce + 1 where chain = $1 and address = $2 
   returning (next_nonce - 1)::float8 as nonce`,
);

/** Takes the wallet's next nonce. It is used exactly when the database transaction commits. */
export async function takeNonce(trx: Trx, chain: Chain, address: string): Promise<number> {
  return (await trx.one(takeNext, [chain, address])).nonce;
}

const selectHistory = query<{ signature: string | null }>(
  'wallet_histories_one',
  'select signature from wallet_histories where chain = $1 and address = $2',
);

/** The newest checked transaction of a wallet; undefined before the first check. */
export const historyOf = (
  db: Queryable,
  chain: Chain,
  address: string,
): Promise<{ signature: string | null } | undefined> => db.maybe(selectHistory, [chain, address]);

const moveHistory = statement(
  'wallet_histories_move',
  `insert into wallet_histories (chain, address, signature) values ($1, $2, $3)
   on conflict (chain, address) do update set signature = excluded.signature, updated_at = now()`,
);

/** Stores that everything up to that transaction was checked. Two replicas may check at once. */
export async function noteHistory(
  db: Queryable,
  chain: Chain,
  address: string,
  signature: string | null,
): Promise<void> {
  await db.rows(moveHistory, [chain, address, signature]);
}

const selectUnknown = query<{ hash: string }>(
  'transactions_unknown',
  `select hash from unnest($1::text[]) with ordinality as told(hash, place)
   where not exists (select from transactions where tx_hash = hash) order by place`,
);

/** The hashes of transactions that this database does not have, in their order. */
export async function unknownHashes(db: Queryable, hashes: readonly string[]): Promise<string[]> {
  return (await db.rows(selectUnknown, [hashes])).map(({ hash }) => hash);
}
