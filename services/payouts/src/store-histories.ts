import type { Chain } from '@quittance/shared/assets';
import { type Queryable, statement } from '@quittance/shared/db';

const selectHistory = statement(
  'wallet_histories_one',
  'select signature from wallet_histories where chain = $1 and address = $2',
);

/** The newest transaction of a wallet that was looked at; undefined before the first look. */
export const historyOf = (
  db: Queryable,
  chain: Chain,
  address: string,
): Promise<{ signature: string | null } | undefined> =>
  db.maybe<{ signature: string | null }>(selectHistory, [chain, address]);

const moveHistory = statement(
  'wallet_histories_move',
  `insert into wallet_histories (chain, address, signature) values ($1, $2, $3)
   on conflict (chain, address) do update set signature = excluded.signature, updated_at = now()`,
);

/** Everything up to that transaction was looked at. Two processes may do so at once: looking twice does no harm. */
export async function noteHistory(
  db: Queryable,
  chain: Chain,
  address: string,
  signature: string | null,
): Promise<void> {
  await db.rows(moveHistory, [chain, address, signature]);
}

const selectUnknown = statement(
  'transactions_unknown',
  `select hash from unnest($1::text[]) with ordinality as told(hash, place)
   where not exists (select from transactions where tx_hash = hash) order by place`,
);

/** Those of the hashes that nothing here was ever signed with, in their order. */
export async function unknownHashes(db: Queryable, hashes: readonly string[]): Promise<string[]> {
  return (await db.rows<{ hash: string }>(selectUnknown, [hashes])).map(({ hash }) => hash);
}
