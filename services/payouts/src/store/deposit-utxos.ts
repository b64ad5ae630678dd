import { statement, type Trx } from '@quittance/shared/db';
import { invariant } from '@quittance/shared/result';
import type { SettledDeposit } from './unswept-deposits.ts';
import { noteDeposits, type Source } from './utxos.ts';

const insertDeposits = statement(
  'coins_insert_deposits',
  `insert into coins (outpoint, chain, address, branch, derivation_index, amount, state, source_deposit_id)
   select outpoint, chain, address, 'deposit', derivation_index, amount, 'available', deposit_id
   from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::numeric[], $6::text[])
     as told(outpoint, chain, address, derivation_index, amount, deposit_id)
   order by outpoint
   on conflict do nothing`,
);

// A late or repeated event of a deposit that is reversed by now says nothing about the UTXO of a later deposit.
const isOfAnotherStanding = `coins.outpoint = told.outpoint
     and coins.source_deposit_id is distinct from told.deposit_id
     and not exists (
       select from holdings where holdings.deposit_id = told.deposit_id and holdings.reversed_at is not null)`;

const takeOver = statement(
  'coins_take_over',
  `update coins set source_deposit_id = told.deposit_id, reversed_at = null, retry_at = null, updated_at = now()
   from unnest($1::text[], $2::text[]) as told(outpoint, deposit_id)
   where ${isOfAnotherStanding} and coins.branch = 'deposit' and coins.reversed_at is not null
   returning coins.source_deposit_id`,
);

const selectOthers = statement(
  'coins_differing',
  `select coins.outpoint from coins, unnest($1::text[], $2::text[]) as told(outpoint, deposit_id)
   where ${isOfAnotherStanding}`,
);

/**
 * Writes the outputs of deposits down once; their unswept deposits are known already. An output whose block was dropped may be
 * mined again, as a deposit of its own: the UTXO belongs to that deposit then, locked or not. Two deposits of one output
 * at a time are an error, until the reversal of the earlier one arrives.
 */
export async function insertDepositUtxos(trx: Trx, deposits: readonly SettledDeposit[]): Promise<void> {
  const outpoints = deposits.map((deposit) => deposit.outpoint);
  const ids = deposits.map((deposit) => deposit.depositId);
  await trx.rows(insertDeposits, [
    outpoints,
    deposits.map((deposit) => deposit.chain),
    deposits.map((deposit) => deposit.address),
    deposits.map((deposit) => deposit.derivationIndex),
    deposits.map((deposit) => deposit.amount.toString()),
    ids,
  ]);
  await noteDeposits(trx, await trx.rows<Source>(takeOver, [outpoints, ids]));
  const others = await trx.rows<{ outpoint: string }>(selectOthers, [outpoints, ids]);
  invariant(
    others.length === 0,
    `one deposit for each output: ${others.map(({ outpoint }) => outpoint).join(', ')}`,
  );
}

const reverse = statement(
  'coins_reverse',
  `update coins set reversed_at = coalesce(reversed_at, now()), updated_at = now()
   where source_deposit_id = any($1)`,
);

/** Nothing of these deposits is there any more; they are known already. A locked one stays with its group. */
export async function reverseDepositUtxos(trx: Trx, depositIds: readonly string[]): Promise<void> {
  await trx.rows(reverse, [depositIds]);
}
