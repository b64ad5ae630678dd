import type { Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement } from '@quittance/shared/db';
import { isIn, maySet, type Transaction, transactionColumns } from './transaction-rows.ts';

const isDue = (every: string): string =>
  `(looked_at is null or looked_at < now() - ${every}::int * interval '1 millisecond')`;

const selectNotFinal = query<Transaction>(
  'transactions_not_final',
  `select ${transactionColumns} from transactions
   where chain = $1 and ${isIn('ended')} and final_at is null
     and ${isDue('case when missing_since is null then $2 else $3 end')}
   order by looked_at nulls first, id limit $4`,
);

/** How often an ended transaction is checked again. */
export type LookEvery = { presentMs: number; missingMs: number };

/** Ended transactions whose blocks are not final, the longest unchecked first. */
export const endedNotFinal = (
  db: Queryable,
  chain: Chain,
  { presentMs, missingMs }: LookEvery,
  limit: number,
): Promise<Transaction[]> => db.rows(selectNotFinal, [chain, presentMs, missingMs, limit]);

const selectNewestFinal = query<Transaction>(
  'transactions_newest_final',
  `select ${transactionColumns} from (
     select * from transactions where chain = $1 and final_at is not null
     order by block_height desc, id desc limit 1) as newest
   where ${isDue('$2')}`,
);

/** The final transaction in the highest block; undefined when it was checked within `lookEveryMs`. */
export const newestFinal = (
  db: Queryable,
  chain: Chain,
  lookEveryMs: number,
): Promise<Transaction | undefined> => db.maybe(selectNewestFinal, [chain, lookEveryMs]);

const markLooked = statement(
  'transactions_looked',
  `update transactions set
     looked_at = now(),
     final_at = case when $2 = 'final' then coalesce(final_at, now()) end,
     missing_since = case when $2 = 'missing' then coalesce(missing_since, now()) end,
     block_height = coalesce($3, block_height),
     block_hash = coalesce($4, block_hash)
   where id = $1 and ${maySet('looked_at')}`,
);

/** Where an ended transaction was found. `not_final`: in a block that may still be dropped. */
export type Whereabouts = {
  is: 'final' | 'not_final' | 'missing';
  block?: { height: number; blockHash: string };
};

export async function noteLooked(db: Queryable, id: string, { is, block }: Whereabouts): Promise<void> {
  await db.rows(markLooked, [id, is, block?.height, block?.blockHash]);
}

const selectEndedFrom = query<Transaction>(
  'transactions_ended_from_nonce',
  `select ${transactionColumns} from transactions
   where ${isIn('ended')} and replacement_group in (
     select id from transactions where chain = $1 and wallet = $2 and nonce >= $3 and attempt = 1)
   order by transactions.nonce limit $4`,
);

/** Transactions of a wallet that have ended and have this nonce or a later one. */
export const endedFromNonce = (
  db: Queryable,
  chain: Chain,
  wallet: string,
  nonce: number,
  limit: number,
): Promise<Transaction[]> => db.rows(selectEndedFrom, [chain, wallet, nonce, limit]);

const markMissing = statement(
  'transactions_mark_missing',
  `update transactions set missing_since = coalesce(missing_since, now()), final_at = null, looked_at = null
   where id = any($1::bigint[]) and ${maySet('missing_since')}`,
);

/** Marks transactions as dropped from the chain, and as the next to be checked. */
export async function noteMissing(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.rows(markMissing, [ids]);
}
