import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import { assertEndsOpen } from '../domain/transaction-state.ts';
import {
  isIn,
  type ReplacementGroup,
  type Transaction,
  type TransactionRow,
  transactionColumns,
  transactionOf,
} from './transaction-rows.ts';

const selectOpenWallets = statement(
  'transactions_open_wallets',
  `select wallet from transactions where chain = $1 and ${isIn('open')}
   group by wallet order by wallet <> $2, max(last_broadcast_at) nulls first, wallet limit $3`,
);

/** Wallets that have signed something whose end is open, the hot wallet first. */
export async function walletsWithOpenTransactions(
  db: Queryable,
  chain: Chain,
  hotAddress: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows<{ wallet: string }>(selectOpenWallets, [chain, hotAddress, limit]);
  return rows.map((row) => row.wallet);
}

const selectOpen = statement(
  'transactions_open_of_wallet',
  `select ${transactionColumns} from transactions
   where ${isIn('open')} and family in (
     select family from transactions
     where chain = $1 and wallet = $2 and ${isIn('open')}
     group by family order by min(nonce), family limit $3)
   order by nonce, family, attempt`,
);

/**
 * A wallet's groups whose end is open, those first that are mined first; of each all attempts that may still be
 * mined, the first one first.
 */
export async function openGroups(
  db: Queryable,
  chain: Chain,
  wallet: string,
  limit: number,
): Promise<ReplacementGroup[]> {
  const open = (await db.rows<TransactionRow>(selectOpen, [chain, wallet, limit])).map(transactionOf);
  return [...Map.groupBy(open, (one) => one.group).values()] as unknown as ReplacementGroup[];
}

const selectStuck = statement(
  'transactions_stuck',
  `select ${transactionColumns} from transactions
   where ${isIn('open')} and family in (
     select family from transactions
     where chain = $1 and ${isIn('open')} and asset = any($4) and ($5::text is null or wallet = $5)
     group by family
     having bool_and(block_hash is null) and bool_and(first_broadcast_at < $2)
     order by min(nonce), family limit $3)
   order by nonce, family, attempt`,
);

/** Which of the stuck groups are asked for. */
export type StuckFilter = { chain: Chain; assets: readonly AssetSymbol[]; sentBefore: Date; wallet?: string };

/** Groups of which no attempt is in a block, and whose newest was sent before that time for the first time. */
export async function stuckGroups(
  db: Queryable,
  { chain, assets, sentBefore, wallet }: StuckFilter,
  limit: number,
): Promise<ReplacementGroup[]> {
  const values = [chain, sentBefore, limit, assets, wallet ?? null];
  const stuck = (await db.rows<TransactionRow>(selectStuck, values)).map(transactionOf);
  return [...Map.groupBy(stuck, (one) => one.group).values()] as unknown as ReplacementGroup[];
}

const invalidateOthers = statement(
  'transactions_bury_others',
  `update transactions set state = 'dead', updated_at = now()
   where family = $1 and id <> $2 and ${isIn('open')}`,
);

/** One attempt has come to its end in the chain: the others of its group can never be mined. */
export async function invalidateOtherAttempts(trx: Trx, { group, id }: Transaction): Promise<void> {
  assertEndsOpen('dead');
  await trx.rows(invalidateOthers, [group, id]);
}

const invalidateAll = statement(
  'transactions_bury_family',
  `update transactions set state = 'dead', updated_at = now()
   where family = $1 and ${isIn('open')} returning id`,
);

/** No attempt of a group can ever be mined. False when it had ended before. */
export async function invalidateAttempts(trx: Trx, group: string): Promise<boolean> {
  assertEndsOpen('dead');
  return (await trx.rows(invalidateAll, [group])).length > 0;
}

const selectGroup = statement(
  'transactions_of_family',
  `select ${transactionColumns} from transactions where family = $1 order by attempt`,
);

/** All attempts of a group, whatever became of them, the first one first. */
export async function attemptsOf(db: Queryable, group: string): Promise<Transaction[]> {
  return (await db.rows<TransactionRow>(selectGroup, [group])).map(transactionOf);
}
