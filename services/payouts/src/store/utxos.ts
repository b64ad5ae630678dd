import type { Utxo } from '@quittance/chains/bitcoin/spend';
import type { Chain } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { Units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { SettledDeposit } from './unswept-deposits.ts';

/** An unspent output of ours on Bitcoin. */
export type StoredUtxo = Utxo & { address: string };

const isSpendable = `chain = $1 and state = 'available' and reversed_at is null
     and (retry_at is null or retry_at < now())`;

const selectSpendable = query<StoredUtxo>(
  'utxos_spendable',
  `select outpoint, branch, derivation_index::float8 as index, address, amount
   from utxos where ${isSpendable} order by amount desc, outpoint limit $2`,
);

/** The largest UTXOs that may be spent. */
export const spendableUtxos = (db: Queryable, chain: Chain, limit: number) =>
  db.rows(selectSpendable, [chain, limit]);

const outpointsOf = (utxos: readonly Pick<Utxo, 'outpoint'>[]) => utxos.map(({ outpoint }) => outpoint);

type Sum = { amount: Units };

const sumSpendable = query<Sum>(
  'utxos_spendable_sum',
  `select coalesce(sum(amount), 0) as amount from utxos where ${isSpendable} and amount > $2`,
);

/** The sum of the UTXOs that may be spent and are larger than `above`. */
export async function spendableSum(db: Queryable, chain: Chain, above: Units): Promise<Units> {
  return (await db.one(sumSpendable, [chain, above])).amount;
}

const selectStillSpendable = query<{ outpoint: string }>(
  'utxos_still_spendable',
  `select outpoint from utxos where ${isSpendable} and outpoint = any($2)`,
);

/** The outpoints of those UTXOs that may still be spent. */
export async function stillSpendable(db: Queryable, chain: Chain, utxos: readonly Utxo[]) {
  return new Set(outpointsOf(await db.rows(selectStillSpendable, [chain, outpointsOf(utxos)])));
}

// One of a group's attempts will be mined, and the one with the least change is counted. A doubted group does not count,
// because it may never be mined.
const sumIncoming = query<Sum>(
  'utxos_incoming',
  `select coalesce(sum(least_change), 0) as amount from (
     select min(amount) as least_change from utxos
     where chain = $1 and state = 'incoming' and reversed_at is null
       and not exists (select from transactions where id = source_group and doubted_at is not null)
     group by source_group) as replacement_groups`,
);

/** The sum of our change that no block includes yet. */
export async function incomingChange(db: Queryable, chain: Chain): Promise<Units> {
  return (await db.one(sumIncoming, [chain])).amount;
}

/** A UTXO of a deposit names it; change and the operator's money have none. */
type Source = { sourceDepositId: string | null };

const lock = query<Source>(
  'utxos_lock',
  `update utxos set state = 'locked', locked_by = $2, updated_at = now()
   where outpoint = any($1) and (state in ('available', 'incoming') or state = 'locked' and locked_by = $2)
   returning source_deposit_id`,
);

/**
 * Locks UTXOs for a group that has signed with them. Its earlier attempts have locked theirs; since the plan a reorganisation
 * may have dropped what made one of the others.
 */
export async function lockUtxos(trx: Trx, utxos: readonly Utxo[], group: string): Promise<void> {
  const locked = await trx.rows(lock, [outpointsOf(utxos), group]);
  invariant(locked.length === utxos.length, `no other group of transactions spends what group ${group} does`);
  await noteDeposits(trx, locked);
}

const insertChange = statement(
  'utxos_insert_change',
  `insert into utxos (outpoint, chain, address, branch, derivation_index, amount, state, source_group)
   values ($1, $2, $3, 'change', $4, $5, 'incoming', $6)`,
);

/** Stores the change of a signed transaction. It becomes available once a block includes the transaction. */
export async function insertChangeUtxo(
  trx: Trx,
  chain: Chain,
  group: string,
  { outpoint, address, index, amount }: Omit<StoredUtxo, 'branch'>,
): Promise<void> {
  await trx.rows(insertChange, [outpoint, chain, address, index, amount, group]);
}

const drawIndex = query<{ index: number }>(
  'utxos_change_index',
  `select nextval('change_indexes')::float8 as index`,
);

/** The index of a new change address, for one group. */
export async function nextChangeIndex(db: Queryable): Promise<number> {
  return (await db.one(drawIndex)).index;
}

const showChange = statement(
  'utxos_change_in_block',
  `update utxos set
     state = case when split_part(outpoint, ':', 1) = $2 then 'available' else 'incoming' end, updated_at = now()
   where source_group = $1 and state in ('incoming', 'available') and reversed_at is null`,
);

/** Makes the change of the mined attempt available, and that of the others incoming. Null: no attempt is mined. */
export async function noteChange(db: Queryable, group: string, minedTxHash: string | null): Promise<void> {
  await db.rows(showChange, [group, minedTxHash]);
}

const selectUsedChange = statement(
  'utxos_used_change',
  `select 1 from utxos where source_group = $1 and state in ('locked', 'spent') limit 1`,
);

/** Whether another group spends this group's change. Then the attempt must not be replaced. */
export async function isChangeUsed(db: Queryable, group: string): Promise<boolean> {
  return (await db.maybe(selectUsedChange, [group])) !== undefined;
}

const free = query<Source>(
  'utxos_free',
  `update utxos set state = 'available', locked_by = null, updated_at = now()
   where locked_by = $1 and state = 'locked'
   returning source_deposit_id`,
);

const settleAll = query<Source>(
  'utxos_settle_all',
  `update utxos set
     state = case when outpoint = any($2) then 'spent' else 'available' end,
     locked_by = case when outpoint = any($2) then $1::bigint end,
     updated_at = now()
   where (locked_by = $1 and (state = 'locked' or not outpoint = any($2)))
     or (locked_by is null and outpoint = any($2))
   returning source_deposit_id`,
);

const bringBackChange = statement(
  'utxos_change_is_back',
  `update utxos set reversed_at = null, retry_at = null, updated_at = now()
   where source_group = $1 and split_part(outpoint, ':', 1) = $2 and reversed_at is not null`,
);

const dropChange = statement(
  'utxos_drop_change',
  `update utxos set reversed_at = coalesce(reversed_at, now()), updated_at = now()
   where source_group = $1 and split_part(outpoint, ':', 1) is distinct from $2`,
);

/**
 * Updates the UTXOs of a group after one attempt has ended in the chain: its inputs are spent, the inputs of other
 * attempts are available again, and the change of other attempts is dropped. After a deeper reorganisation it may be
 * called with another attempt, and then undoes the former update.
 */
export async function settleUtxos(
  trx: Trx,
  group: string,
  mined: { txHash: string; spends: readonly string[] },
): Promise<void> {
  await noteDeposits(trx, await trx.rows(settleAll, [group, mined.spends]));
  await trx.rows(bringBackChange, [group, mined.txHash]);
  await noteChange(trx, group, mined.txHash);
  await trx.rows(dropChange, [group, mined.txHash]);
}

const markDropped = statement(
  'utxos_dropped',
  `update utxos set reversed_at = coalesce(reversed_at, now()), updated_at = now() where outpoint = $1`,
);

/** Frees the UTXOs of a group that can never be mined, except the one that is missing in the chain. */
export async function freeUtxos(trx: Trx, group: string, missingOutpoint: string): Promise<void> {
  await trx.rows(markDropped, [missingOutpoint]);
  await noteDeposits(trx, await trx.rows(free, [group]));
  await trx.rows(dropChange, [group, null]);
}

const followUtxos = statement(
  'unswept_deposits_follow_utxos',
  `update unswept_deposits d set
     state = case utxos.state when 'locked' then 'sweeping' when 'spent' then 'swept' else 'held' end,
     sweep_id = utxos.locked_by,
     updated_at = now()
   from utxos where utxos.source_deposit_id = d.deposit_id and d.deposit_id = any($1)`,
);

/** Updates the unswept deposits of these UTXOs: whether a transaction sweeps them. */
async function noteDeposits(trx: Trx, sources: readonly Source[]): Promise<void> {
  const ids = sources.flatMap(({ sourceDepositId }) => sourceDepositId ?? []);
  if (ids.length > 0) await trx.rows(followUtxos, [ids]);
}

const postpone = statement(
  'utxos_postpone',
  `update utxos set retry_at = $2, updated_at = now() where outpoint = any($1) and state = 'available'`,
);

/** Excludes UTXOs from plans until `retryAt`. */
export async function postponeUtxos(
  db: Queryable,
  utxos: readonly Pick<Utxo, 'outpoint'>[],
  retryAt: Date,
): Promise<void> {
  await db.rows(postpone, [outpointsOf(utxos), retryAt]);
}

const deposits = bulk({
  outpoint: 'text',
  chain: 'text',
  address: 'text',
  derivationIndex: 'bigint',
  amount: 'numeric',
  depositId: 'text',
});

const insertDeposits = statement(
  'utxos_insert_deposits',
  `insert into utxos (outpoint, chain, address, branch, derivation_index, amount, state, source_deposit_id)
   select outpoint, chain, address, 'deposit', derivation_index, amount, 'available', deposit_id
   from ${deposits.from('given')} order by outpoint on conflict do nothing`,
);

// A late or repeated event of a deposit that was reversed does not change the UTXO of a later deposit.
const isOfAnother = `utxos.outpoint = given.outpoint
     and utxos.source_deposit_id is distinct from given.deposit_id
     and not exists (
       select from unswept_deposits d where d.deposit_id = given.deposit_id and d.reversed_at is not null)`;

const takeOver = query<Source>(
  'utxos_take_over',
  `update utxos set source_deposit_id = given.deposit_id, reversed_at = null, retry_at = null, updated_at = now()
   from ${deposits.from('given')}
   where ${isOfAnother} and utxos.branch = 'deposit' and utxos.reversed_at is not null
   returning utxos.source_deposit_id`,
);

const selectOthers = query<{ outpoint: string }>(
  'utxos_differing',
  `select utxos.outpoint from utxos, ${deposits.from('given')} where ${isOfAnother}`,
);

/**
 * Stores the outputs of deposits once, after the deposits themselves. An output whose block was dropped may be mined
 * again, as another deposit: the UTXO belongs to that deposit then, locked or not. Two deposits of one output at a time
 * are an error, until the reversal of the earlier one arrives.
 */
export async function insertDepositUtxos(trx: Trx, settled: readonly SettledDeposit[]): Promise<void> {
  const values = deposits.values(settled);
  await trx.rows(insertDeposits, values);
  await noteDeposits(trx, await trx.rows(takeOver, values));
  const others = await trx.rows(selectOthers, values);
  invariant(others.length === 0, `one deposit for each output: ${outpointsOf(others).join(', ')}`);
}

const reverse = statement(
  'utxos_reverse',
  `update utxos set reversed_at = coalesce(reversed_at, now()), updated_at = now()
   where source_deposit_id = any($1)`,
);

/** Marks the UTXOs of dropped deposits. A locked UTXO stays with its group. */
export async function reverseDepositUtxos(trx: Trx, depositIds: readonly string[]): Promise<void> {
  await trx.rows(reverse, [depositIds]);
}

const outputs = bulk({ outpoint: 'text', amount: 'numeric' }, 3);

const insertHot = query<{ outpoint: string }>(
  'utxos_insert_hot',
  `insert into utxos (outpoint, chain, address, branch, derivation_index, amount, state)
   select outpoint, $1, $2, 'hot', 0, amount, 'available' from ${outputs.from('found')} on conflict do nothing
   returning outpoint`,
);

/**
 * Stores money that an operator sent to the hot address. Known UTXOs stay as they are: change returns there too when the key is in a KMS.
 * @returns how many are new
 */
export async function insertHotUtxos(
  trx: Trx,
  chain: Chain,
  address: string,
  found: readonly { outpoint: string; amount: Units }[],
): Promise<number> {
  return (await trx.rows(insertHot, [chain, address, ...outputs.values(found)])).length;
}
