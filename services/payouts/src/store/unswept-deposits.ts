import { type AssetSymbol, assets, type Chain, chainKinds } from '@quittance/shared/assets';
import { type Queryable, statement, type Trx } from '@quittance/shared/db';
import type { PayloadOf } from '@quittance/shared/events';
import type { AccountId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { isIn } from './transaction-rows.ts';

export type SettledDeposit = {
  depositId: string;
  chain: Chain;
  address: string;
  derivationIndex: number;
  asset: AssetSymbol;
  amount: Units;
  /** On Bitcoin the output that can be spent. */
  outpoint: string;
  /** Unknown for deposits that came before this was stored. */
  account: AccountId | null;
  invoiceId: string | null;
  /** Unknown when its reversal came first. */
  disposition: Disposition | null;
};
export type Disposition = PayloadOf<'deposit.settled'>['disposition'];

export const depositOf = (told: PayloadOf<'deposit.settled' | 'deposit.reversed'>): SettledDeposit => ({
  depositId: told.deposit_id,
  chain: assets[told.asset].chain,
  // Elsewhere the case of a letter says something.
  address: chainKinds[assets[told.asset].chain] === 'evm' ? told.address.toLowerCase() : told.address,
  derivationIndex: told.derivation_index,
  asset: told.asset,
  amount: units(told.amount),
  outpoint: told.outpoint,
  account: told.account_id as AccountId,
  invoiceId: told.invoice_id,
  disposition: 'disposition' in told ? told.disposition : null,
});

const insertDeposits = statement(
  'holdings_insert',
  `insert into holdings (deposit_id, chain, address, derivation_index, asset, amount, account_id, invoice_id, disposition)
   select * from unnest(
     $1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::text[], $8::text[], $9::text[])
   order by 1
   on conflict (deposit_id) do nothing`,
);

const selectOthers = statement(
  'holdings_differing',
  `select deposit_id from holdings
   join unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::numeric[], $7::text[])
     as told(deposit_id, chain, address, derivation_index, asset, amount, account_id) using (deposit_id)
   where (holdings.chain, holdings.address, holdings.derivation_index, holdings.asset, holdings.amount,
       coalesce(holdings.account_id, told.account_id))
     is distinct from (told.chain, told.address, told.derivation_index, told.asset, told.amount, told.account_id)`,
);

const markReversed = statement(
  'holdings_reverse',
  `update holdings set reversed_at = coalesce(reversed_at, now()), updated_at = now()
   where deposit_id = any($1)`,
);

const columnsOf = (deposits: readonly SettledDeposit[]): unknown[] => [
  deposits.map((deposit) => deposit.depositId),
  deposits.map((deposit) => deposit.chain),
  deposits.map((deposit) => deposit.address),
  deposits.map((deposit) => deposit.derivationIndex),
  deposits.map((deposit) => deposit.asset),
  deposits.map((deposit) => deposit.amount.toString()),
  deposits.map((deposit) => deposit.account),
];

/** Writes deposits down once. The same deposit with other contents is an error. */
export async function insertDepositsOnce(trx: Trx, deposits: readonly SettledDeposit[]): Promise<void> {
  const values = columnsOf(deposits);
  await trx.rows(insertDeposits, [
    ...values,
    deposits.map((deposit) => deposit.invoiceId),
    deposits.map((deposit) => deposit.disposition),
  ]);
  const others = await trx.rows<{ deposit_id: string }>(selectOthers, values);
  if (others.length > 0) {
    throw new Error(`settled twice with other contents: ${others.map((row) => row.deposit_id).join(', ')}`);
  }
}

// A return that was mined and reverted kept its network fee: the ledger has that much less of the deposit.
const selectUnresolved = statement(
  'holdings_unresolved',
  `select account_id, asset, reversed_at is not null as is_reversed,
     amount - coalesce((
       select sum(p.network_fee) from payouts p
       where p.returns_deposit = holdings.deposit_id and p.status = 'failed' and exists (
         select from payments m join transactions t on t.family = m.family
         where m.payout_id = p.id and t.state = 'reverted')), 0) as amount
   from holdings
   where deposit_id = $1 and disposition = 'unresolved' and account_id is not null`,
);

export type UnresolvedDeposit = {
  account: AccountId;
  asset: AssetSymbol;
  amount: Units;
  /** The chain has taken it back. */
  isReversed: boolean;
};

type UnresolvedRow = { account_id: AccountId; asset: AssetSymbol; amount: string; is_reversed: boolean };

/** Money that waited for a decision when it came in; the ledger knows what has become of it. */
export async function findUnresolved(
  db: Queryable,
  depositId: string,
): Promise<UnresolvedDeposit | undefined> {
  const row = await db.maybe<UnresolvedRow>(selectUnresolved, [depositId]);
  if (row === undefined) return undefined;
  const { account_id: account, asset, amount, is_reversed: isReversed } = row;
  return { account, asset, amount: units(amount), isReversed };
}

/** Nothing of these deposits is there any more; they are known already. */
export async function markDepositsReversed(trx: Trx, depositIds: readonly string[]): Promise<void> {
  await trx.rows(markReversed, [depositIds]);
}

/** What lies on one deposit address in one asset and has not been moved. */
export type UnsweptDeposits = {
  asset: AssetSymbol;
  address: string;
  derivationIndex: number;
  amount: Units;
  depositIds: string[];
};

const isSweepable = `chain = $1 and asset = $2 and state = 'held' and reversed_at is null
     and (retry_at is null or retry_at < now())
     and not exists (
       select from transactions
       where transactions.chain = $1 and swept_address = holdings.address and transactions.asset = $2
         and transactions.purpose = 'sweep' and ${isIn('open', 'transactions.state')})`;

// The largest deposits lead to the addresses; of those, everything is taken along.
const selectSweepable = statement(
  'holdings_sweepable',
  `with largest as (select address from holdings where ${isSweepable} order by amount desc, deposit_id limit $3)
   select asset, address, derivation_index, sum(amount) as amount, array_agg(deposit_id order by deposit_id) as deposit_ids
   from holdings
   where ${isSweepable} and address in (select address from largest)
   group by asset, address, derivation_index
   order by address`,
);

type UnsweptRow = {
  asset: AssetSymbol;
  address: string;
  derivation_index: string;
  amount: string;
  deposit_ids: string[];
};

const unsweptOf = (row: UnsweptRow): UnsweptDeposits => ({
  asset: row.asset,
  address: row.address,
  derivationIndex: Number(row.derivation_index), // eslint-disable-line no-restricted-syntax -- an index counts addresses
  amount: units(row.amount),
  depositIds: row.deposit_ids,
});

/** The largest unswept deposits of an asset that could be swept, one for each address. */
export async function sweepableDeposits(
  db: Queryable,
  chain: Chain,
  asset: AssetSymbol,
  limit: number,
): Promise<UnsweptDeposits[]> {
  return (await db.rows<UnsweptRow>(selectSweepable, [chain, asset, limit])).map(unsweptOf);
}

const sumSweepable = statement(
  'holdings_sweepable_sum',
  `select coalesce(sum(amount), 0) as amount from holdings where ${isSweepable}`,
);

/** What all unswept deposits of an asset that could be swept come to. */
export async function sweepableSum(db: Queryable, chain: Chain, asset: AssetSymbol): Promise<Units> {
  return units((await db.one<{ amount: string }>(sumSweepable, [chain, asset])).amount);
}

const claim = statement(
  'holdings_claim',
  `update holdings set state = 'sweeping', sweep_id = $2, updated_at = now()
   where deposit_id = any($1) and state = 'held' and reversed_at is null`,
);

const lock = statement(
  'holdings_lock',
  `select coalesce(sum(amount), 0) as amount from (
     select amount from holdings
     where deposit_id = any($1) and state = 'held' and reversed_at is null
     order by deposit_id for update) as held`,
);

/** Locks these deposits and answers what they still come to. */
export async function lockDeposits(trx: Trx, depositIds: readonly string[]): Promise<Units> {
  return units((await trx.one<{ amount: string }>(lock, [depositIds])).amount);
}

/** These deposits are moved by that transaction. */
export async function assignSweep(trx: Trx, depositIds: readonly string[], sweepId: string): Promise<void> {
  await trx.rows(claim, [depositIds, sweepId]);
}

const selectSwept = statement(
  'holdings_of_sweep',
  `select asset, address, derivation_index, sum(amount) as amount, array_agg(deposit_id order by deposit_id) as deposit_ids
   from holdings where sweep_id = $1 and state = 'sweeping'
   group by asset, address, derivation_index`,
);

/** What a sweep that is under way moves. */
export async function depositsOfSweep(db: Queryable, sweepId: string): Promise<UnsweptDeposits | undefined> {
  const row = await db.maybe<UnsweptRow>(selectSwept, [sweepId]);
  return row && unsweptOf(row);
}

const finish = statement(
  'holdings_swept',
  `update holdings set state = 'swept', updated_at = now() where sweep_id = $1 and state = 'sweeping'`,
);

/** The sweep is mined: its money is at the hot wallet. */
export async function markSwept(trx: Trx, sweepId: string): Promise<void> {
  await trx.rows(finish, [sweepId]);
}

const giveBack = statement(
  'holdings_unswept',
  `update holdings set state = 'held', sweep_id = null, retry_at = $2, updated_at = now()
   where sweep_id = $1 and state = 'sweeping'`,
);

/** The sweep came to nothing: its money is where it was, and may be swept again after `retryAt`. */
export async function markUnswept(trx: Trx, sweepId: string, retryAt: Date): Promise<void> {
  await trx.rows(giveBack, [sweepId, retryAt]);
}

const postpone = statement(
  'holdings_postpone',
  `update holdings set retry_at = $2, updated_at = now() where deposit_id = any($1) and state = 'held'`,
);

/** Something is wrong with these deposits: they are not planned with before `retryAt`. */
export async function postponeDeposits(
  db: Queryable,
  depositIds: readonly string[],
  retryAt: Date,
): Promise<void> {
  await db.rows(postpone, [depositIds, retryAt]);
}
