import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { OpenSum } from '../domain/liquidity.ts';
import { assertMoves, transactionMoves, transactionPhases } from '../domain/states.ts';
import { isIn, type ReplacementGroup, type Transaction, transactionColumns } from './transactions.ts';

const selectOpenWallets = query<{ wallet: string }>(
  'transactions_open_wallets',
  `select wallet from transactions where chain = $1 and ${isIn('open')}
   group by wallet order by wallet <> $2, max(last_broadcast_at) nulls first, wallet limit $3`,
);

/** Wallets with open transactions, the hot wallet first. */
export const walletsWithOpenTransactions = async (
  db: Queryable,
  chain: Chain,
  hotAddress: string,
  limit: number,
) => (await db.rows(selectOpenWallets, [chain, hotAddress, limit])).map(({ wallet }) => wallet);

const selectUnsent = query<{ id: string }>(
  'transactions_unsent',
  `select id from transactions where chain = $1 and state = 'signed' limit 1`,
);

/** Whether a transaction is signed that no node has accepted yet. */
export const hasUnsentTransactions = async (db: Queryable, chain: Chain): Promise<boolean> =>
  (await db.rows(selectUnsent, [chain])).length > 0;

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
export const openGroups = async (db: Queryable, chain: Chain, wallet: string, limit: number) =>
  groupsOf(await db.rows(selectOpen, [chain, wallet, limit]));

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

type StuckFilter = { chain: Chain; assets: readonly AssetSymbol[]; sentBefore: Date; wallet?: string };

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
  `update transactions set state = 'invalidated', updated_at = now()
   where replacement_group = $1 and id <> $2 and ${isIn('open')}`,
);

/** Invalidates the other attempts of a group, after one has ended in the chain. */
export async function invalidateOtherAttempts(trx: Trx, { group, id }: Transaction): Promise<void> {
  assertMoves(transactionMoves, transactionPhases.open, 'invalidated');
  await trx.rows(invalidateOthers, [group, id]);
}

const invalidateAll = statement(
  'transactions_invalidate_group',
  `update transactions set state = 'invalidated', updated_at = now()
   where replacement_group = $1 and ${isIn('open')} returning id`,
);

/** Invalidates all open attempts of a group. False when the group had ended before. */
export async function invalidateAttempts(trx: Trx, group: string): Promise<boolean> {
  assertMoves(transactionMoves, transactionPhases.open, 'invalidated');
  return (await trx.rows(invalidateAll, [group])).length > 0;
}

const selectGroup = query<Transaction>(
  'transactions_of_group',
  `select ${transactionColumns} from transactions where replacement_group = $1 order by attempt`,
);

/** All attempts of a group in their order, whatever their state. */
export const attemptsOf = (db: Queryable, group: string): Promise<Transaction[]> =>
  db.rows(selectGroup, [group]);

/** Whether an attempt is the newest of its group, and open. */
export async function isNewest(trx: Trx, { id, group }: Pick<Transaction, 'id' | 'group'>): Promise<boolean> {
  const last = (await attemptsOf(trx, group)).at(-1);
  return last?.id === id && transactionPhases.open.some((state) => state === last.state);
}

/** What a group of transactions pays to whom; on every chain but Bitcoin a group pays one payout. */
export type TransactionPayment = {
  payoutId: PayoutId;
  /** Canonical. */
  address: string;
  amount: Units;
  /** Where its transactions have several outputs. */
  outputIndex: number | null;
};

const payments = bulk({
  group: 'replacement_group bigint',
  payoutId: 'bigint',
  address: 'text',
  amount: 'numeric',
  outputIndex: 'int',
});

const insert = statement('payments_insert', payments.insertInto('payments'));

/** Binds payouts to the group that pays them, for ever. */
export async function insertPayments(trx: Trx, group: string, paid: TransactionPayment[]): Promise<void> {
  await trx.rows(insert, payments.values(paid.map((payment) => ({ ...payment, group }))));
}

const selectOfGroup = query<TransactionPayment>(
  'payments_of_group',
  `select payout_id, address, amount, output_index from payments
   where replacement_group = $1 order by output_index nulls first, payout_id`,
);

/** What a group pays, in the order of its outputs; nothing for a sweep. */
export const paymentsOf = (db: Queryable, group: string): Promise<TransactionPayment[]> =>
  db.rows(selectOfGroup, [group]);

// What was dropped from the chain is sent again, and moves its money then. Two queries, for an index each.
const inFlight = `(
  select replacement_group, wallet, nonce, purpose, asset, amount, max_cost, block_hash from transactions
  where chain = $1 and ${isIn('open')}
  union all select replacement_group, wallet, nonce, purpose, asset, amount, max_cost, null from transactions
  where chain = $1 and missing_since is not null) as in_flight`;

// A group counts once, whatever its attempts: by the one that a block includes, else by the least that it may bring and
// the most that it may cost.
const sumOpen = query<OpenSum>(
  'transactions_open_sums',
  `with replacement_groups as (
     select replacement_group, purpose, asset, wallet = $2 as paid_by_hot, bool_or(block_hash is not null) as in_block,
       coalesce(min(amount) filter (where block_hash is not null), min(amount)) as amount, max(max_cost) as max_cost
     from ${inFlight} group by 1, 2, 3, 4)
   select purpose, asset, paid_by_hot, in_block,
     exists (select from unswept_deposits where sweep_id = replacement_group and reversed_at is not null) as has_reversed_deposit,
     sum(amount) as amount, sum(max_cost) as max_cost
   from replacement_groups group by 1, 2, 3, 4, 5`,
);

/** What all signed transactions will move that are open, or that were dropped after their end. */
export const openSums = (db: Queryable, chain: Chain, hotAddress: string): Promise<OpenSum[]> =>
  db.rows(sumOpen, [chain, hotAddress]);

export type SweepOutsideBlocks = { wallet: string; nonce: number; asset: AssetSymbol; amount: Units };

const selectSweepsOutsideBlocks = query<SweepOutsideBlocks>(
  'transactions_sweeps_outside_blocks',
  `select wallet, nonce::float8, asset, max(amount) as amount from ${inFlight}
   where purpose = 'sweep'
   group by replacement_group, wallet, nonce, asset having bool_and(block_hash is null)`,
);

/** Sweeps that no block included when they were last asked about. */
export const sweepsOutsideBlocks = (db: Queryable, chain: Chain) =>
  db.rows(selectSweepsOutsideBlocks, [chain]);
