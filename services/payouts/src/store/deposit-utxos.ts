import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import { invariant } from '@quittance/shared/result';
import type { SettledDeposit } from './unswept-deposits.ts';
import { noteDeposits, type Source } from './utxos.ts';

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
  invariant(
    others.length === 0,
    `one deposit for each output: ${others.map(({ outpoint }) => outpoint).join(', ')}`,
  );
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
