import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import { assertEndsOpen } from '../domain/transaction-state.ts';
import { isIn, type ReplacementGroup, type Transaction, transactionColumns } from './transaction-rows.ts';

const selectOpenWallets = query<{ wallet: string }>(
  'transactions_open_wallets',
  `select wallet from transactions where chain = $1 and ${isIn('open')}
   group by wallet order by wallet <> $2, max(last_broadcast_at) nulls first, wallet limit $3`,
);

/** Wallets with open transactions, the hot wallet first. */
export async function walletsWithOpenTransactions(
  db: Queryable,
  chain: Chain,
  hotAddress: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.rows(selectOpenWallets, [chain, hotAddress, limit]);
  return rows.map((row) => row.wallet);
}

const groupsOf = (transactions: readonly Transaction[]): ReplacementGroup[] =>
  [...Map.groupBy(transactions, ({ group }) => group).values()] as unknown as ReplacementGroup[];

const selectOpen = query<Transaction>(
  'transactions_open_of_wallet',
  `select ${transactionColumns} from transactions
   where ${isIn('open')} and replacement_group in (
     select replacement_group from transactions
     where chain = $1 and wallet = $2 and ${isIn('open')}
     group by replacement_group order by min(nonce), replacement_group limit $3)
   order by transactions.nonce, replacement_group, attempt`,
);

/** A wallet's open groups in the order of their nonces, each with its open attempts in their order. */
export async function openGroups(
  db: Queryable,
  chain: Chain,
  wallet: string,
  limit: number,
): Promise<ReplacementGroup[]> {
  return groupsOf(await db.rows(selectOpen, [chain, wallet, limit]));
}

const selectStuck = query<Transaction>(
  'transactions_stuck',
  `select ${transactionColumns} from transactions
   where ${isIn('open')} and replacement_group in (
     select replacement_group from transactions
     where chain = $1 and ${isIn('open')} and asset = any($4) and ($5::text is null or wallet = $5)
     group by replacement_group
     having bool_and(block_hash is null) and bool_and(first_broadcast_at < $2)
     order by min(nonce), replacement_group limit $3)
   order by transactions.nonce, replacement_group, attempt`,
);

export type StuckFilter = { chain: Chain; assets: readonly AssetSymbol[]; sentBefore: Date; wallet?: string };

/** Groups that no block includes, and all of whose attempts were first sent before `sentBefore`. */
export async function stuckGroups(
  db: Queryable,
  { chain, assets, sentBefore, wallet }: StuckFilter,
  limit: number,
): Promise<ReplacementGroup[]> {
  return groupsOf(await db.rows(selectStuck, [chain, sentBefore, limit, assets, wallet]));
}

const invalidateOthers = statement(
  'transactions_invalidate_others',
  `update transactions set state = 'dead', updated_at = now()
   where replacement_group = $1 and id <> $2 and ${isIn('open')}`,
);

/** Marks the other attempts of a group as dead, after one has ended in the chain. */
export async function invalidateOtherAttempts(trx: Trx, { group, id }: Transaction): Promise<void> {
  assertEndsOpen('dead');
  await trx.rows(invalidateOthers, [group, id]);
}

const invalidateAll = statement(
  'transactions_invalidate_group',
  `update transactions set state = 'dead', updated_at = now()
   where replacement_group = $1 and ${isIn('open')} returning id`,
);

/** Marks all open attempts of a group as dead. False when the group had ended before. */
export async function invalidateAttempts(trx: Trx, group: string): Promise<boolean> {
  assertEndsOpen('dead');
  return (await trx.rows(invalidateAll, [group])).length > 0;
}

const selectGroup = query<Transaction>(
  'transactions_of_group',
  `select ${transactionColumns} from transactions where replacement_group = $1 order by attempt`,
);

/** All attempts of a group in their order, whatever their state. */
export const attemptsOf = (db: Queryable, group: string): Promise<Transaction[]> =>
  db.rows(selectGroup, [group]);
