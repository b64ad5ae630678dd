import { type AssetSymbol, assets, type Chain, chainKinds } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import type { AccountId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { isIn, isReverted } from './transactions.ts';

export type SettledDeposit = {
  depositId: string;
  chain: Chain;
  address: string;
  derivationIndex: number;
  asset: AssetSymbol;
  amount: Units;
  /** On Bitcoin the UTXO. */
  outpoint: string;
  /** Null for deposits from before this was stored. */
  account: AccountId | null;
  invoiceId: string | null;
  /** Null when the reversal arrived first. */
  disposition: PayloadOf<'deposit.settled'>['disposition'] | null;
};

export function depositOf(payload: PayloadOf<'deposit.settled' | 'deposit.reversed'>): SettledDeposit {
  const { asset, address, outpoint } = payload;
  const { chain } = assets[asset];
  return {
    depositId: payload.deposit_id,
    chain,
    // On other chains addresses are case-sensitive.
    address: chainKinds[chain] === 'evm' ? address.toLowerCase() : address,
    derivationIndex: payload.derivation_index,
    asset,
    amount: units(payload.amount),
    outpoint,
    account: payload.account_id as AccountId,
    invoiceId: payload.invoice_id,
    disposition: 'disposition' in payload ? payload.disposition : null,
  };
}

const deposits = bulk({
  depositId: 'text',
  chain: 'text',
  address: 'text',
  derivationIndex: 'bigint',
  asset: 'text',
  amount: 'numeric',
  account: 'account_id text',
  invoiceId: 'text',
  disposition: 'text',
});

const insertDeposits = statement(
  'unswept_deposits_insert',
  `${deposits.insertInto('unswept_deposits')} order by deposit_id on conflict (deposit_id) do nothing`,
);

const selectOthers = query<{ depositId: string }>(
  'unswept_deposits_differing',
  `select deposit_id from unswept_deposits d join ${deposits.from('given')} using (deposit_id)
   where (d.chain, d.address, d.derivation_index, d.asset, d.amount, coalesce(d.account_id, given.account_id))
     is distinct from
       (given.chain, given.address, given.derivation_index, given.asset, given.amount, given.account_id)`,
);

/** Stores deposits once. The same deposit with other contents is an error. */
export async function insertDepositsOnce(trx: Trx, settled: readonly SettledDeposit[]): Promise<void> {
  const values = deposits.values(settled);
  await trx.rows(insertDeposits, values);
  const others = await trx.rows(selectOthers, values);
  const ids = others.map(({ depositId }) => depositId);
  if (ids.length > 0) throw new Error(`settled twice with other contents: ${ids.join(', ')}`);
}

const markReversed = statement(
  'unswept_deposits_reverse',
  `update unswept_deposits set reversed_at = coalesce(reversed_at, now()), updated_at = now()
   where deposit_id = any($1)`,
);

/** Marks stored deposits as dropped from the chain. */
export async function markDepositsReversed(trx: Trx, depositIds: readonly string[]): Promise<void> {
  await trx.rows(markReversed, [depositIds]);
}

export type UnresolvedDeposit = {
  account: AccountId;
  asset: AssetSymbol;
  /** What could be returned of it at all. */
  amount: Units;
  /** What payouts that have not failed leave of that. */
  left: Units;
  /** A reorganisation has dropped it. */
  isReversed: boolean;
};

// A refund that was mined and reverted cost its network fee, so the ledger has that much less of the deposit.
const selectUnresolved = query<UnresolvedDeposit>(
  'unswept_deposits_unresolved',
  `select account_id as account, asset, reversed_at is not null as is_reversed,
     amount - returns.fees as amount, amount - returns.fees - returns.taken as "left"
   from unswept_deposits, lateral (
     select coalesce(sum(p.network_fee) filter (where ${isReverted('p')}), 0) as fees,
       coalesce(sum(p.amount + p.network_fee) filter (where p.status not in ('failed', 'refused', 'voided')), 0) as taken
     from payouts p where p.returns_deposit = unswept_deposits.deposit_id) returns
   where deposit_id = $1 and disposition = 'unresolved' and account_id is not null`,
);

/** A deposit whose money was unresolved when it was booked; what has become of it since, the ledger knows. */
export const findUnresolved = (db: Queryable, depositId: string) => db.maybe(selectUnresolved, [depositId]);

/** The unswept deposits of one asset at one address. */
export type UnsweptDeposits = {
  asset: AssetSymbol;
  address: string;
  derivationIndex: number;
  amount: Units;
  depositIds: string[];
};

const unsweptColumns = `asset, address, derivation_index::float8, sum(amount) as amount,
  array_agg(deposit_id order by deposit_id) as deposit_ids`;

const isSweepable = `chain = $1 and asset = $2 and state = 'held' and reversed_at is null
     and (retry_at is null or retry_at < now())
     and not exists (
       select from transactions
       where transactions.chain = $1 and swept_address = unswept_deposits.address and transactions.asset = $2
         and transactions.purpose = 'sweep' and ${isIn('open', 'transactions.state')})`;

// The largest deposits choose the addresses, and all deposits at these addresses are swept together.
const selectSweepable = query<UnsweptDeposits>(
  'unswept_deposits_sweepable',
  `with largest as (select address from unswept_deposits where ${isSweepable} order by amount desc, deposit_id limit $3)
   select ${unsweptColumns} from unswept_deposits
   where ${isSweepable} and address in (select address from largest)
   group by asset, address, derivation_index
   order by address`,
);

/** The largest unswept deposits of an asset that could be swept, one for each address. */
export const sweepableDeposits = (db: Queryable, chain: Chain, asset: AssetSymbol, limit: number) =>
  db.rows(selectSweepable, [chain, asset, limit]);

type Sum = { amount: Units };

const sumSweepable = query<Sum>(
  'unswept_deposits_sweepable_sum',
  `select coalesce(sum(amount), 0) as amount from unswept_deposits where ${isSweepable}`,
);

/** The sum of all deposits of an asset that could be swept. */
export async function sweepableSum(db: Queryable, chain: Chain, asset: AssetSymbol): Promise<Units> {
  return (await db.one(sumSweepable, [chain, asset])).amount;
}

const selectAnyUnswept = statement(
  'unswept_deposits_any',
  `select 1 from unswept_deposits where chain = $1 and state <> 'swept' and reversed_at is null limit 1`,
);

/** Whether a chain has a deposit that was not swept yet. */
export const hasUnswept = async (db: Queryable, chain: Chain): Promise<boolean> =>
  (await db.maybe(selectAnyUnswept, [chain])) !== undefined;

const claim = statement(
  'unswept_deposits_claim',
  `update unswept_deposits set state = 'sweeping', sweep_id = $2, updated_at = now()
   where deposit_id = any($1) and state = 'held'`,
);

const lock = query<Sum>(
  'unswept_deposits_lock',
  `select coalesce(sum(amount), 0) as amount from (
     select amount from unswept_deposits
     where deposit_id = any($1) and state = 'held' and reversed_at is null
     order by deposit_id for update) as held`,
);

/** Locks these deposits. @returns the sum of those that are still unswept. */
export async function lockDeposits(trx: Trx, depositIds: readonly string[]): Promise<Units> {
  return (await trx.one(lock, [depositIds])).amount;
}

/** Records which transaction sweeps these deposits. */
export async function assignSweep(trx: Trx, depositIds: readonly string[], sweepId: string): Promise<void> {
  await trx.rows(claim, [depositIds, sweepId]);
}

const selectSwept = query<UnsweptDeposits>(
  'unswept_deposits_of_sweep',
  `select ${unsweptColumns} from unswept_deposits where sweep_id = $1 and state = 'sweeping'
   group by asset, address, derivation_index`,
);

/** What an open sweep moves. */
export const depositsOfSweep = (db: Queryable, sweepId: string) => db.maybe(selectSwept, [sweepId]);

const finish = statement(
  'unswept_deposits_swept',
  `update unswept_deposits set state = 'swept', updated_at = now() where sweep_id = $1 and state = 'sweeping'`,
);

/** Marks the deposits of a mined sweep. */
export async function markSwept(trx: Trx, sweepId: string): Promise<void> {
  await trx.rows(finish, [sweepId]);
}

const giveBack = statement(
  'unswept_deposits_unswept',
  `update unswept_deposits set state = 'held', sweep_id = null, retry_at = $2, updated_at = now()
   where sweep_id = $1 and state = 'sweeping'`,
);

/** Returns the deposits of a failed sweep to unswept. They may be swept again after `retryAt`. */
export async function markUnswept(trx: Trx, sweepId: string, retryAt: Date): Promise<void> {
  await trx.rows(giveBack, [sweepId, retryAt]);
}

const postpone = statement(
  'unswept_deposits_postpone',
  `update unswept_deposits set retry_at = $2, updated_at = now() where deposit_id = any($1) and state = 'held'`,
);

/** Excludes deposits from plans until `retryAt`. */
export async function postponeDeposits(
  db: Queryable,
  depositIds: readonly string[],
  retryAt: Date,
): Promise<void> {
  await db.rows(postpone, [depositIds, retryAt]);
}
