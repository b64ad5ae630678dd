import type { AssetSymbol } from '@quittance/shared/assets';
import { statement, type Trx } from '@quittance/shared/db';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import { type Units, units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import type { Deposit, MerchantBucket, Op, Posting } from './domain/posting.ts';
import type { Unresolved, UnresolvedState } from './domain/unresolved.ts';

/** A balance's key: one account, one asset. */
export type BalanceKey = { account: AccountId; asset: AssetSymbol };

const openMissing = statement(
  'balances_open_missing',
  `insert into balances (account_id, asset)
   select distinct a, s from unnest($1::text[], $2::text[]) as wanted (a, s)
   where not exists (select from balances where account_id = a and asset = s)
   order by a, s on conflict do nothing`,
);

const lock = statement(
  'balances_lock',
  `select account_id, asset, available, held, unresolved from balances
   where (account_id, asset) in (select * from unnest($1::text[], $2::text[]))
   order by account_id, asset for no key update`,
);

type BalanceRow = { account_id: AccountId; asset: AssetSymbol } & Record<MerchantBucket, string>;
export type Balance = BalanceKey & Record<MerchantBucket, Units>;

/**
 * Locks these balances, all of them and in one order, so that no two transactions wait for each other;
 * those that are missing are opened with zero first. Call it once, before anything else is locked.
 */
export async function lockBalances(trx: Trx, keys: readonly BalanceKey[]): Promise<Balance[]> {
  const lists = [keys.map(({ account }) => account), keys.map(({ asset }) => asset)];
  await trx.rows(openMissing, lists);
  const rows = await trx.rows<BalanceRow>(lock, lists);
  return rows.map((row) => ({
    account: row.account_id,
    asset: row.asset,
    available: units(row.available),
    held: units(row.held),
    unresolved: units(row.unresolved),
  }));
}

// `n` is a posting's place in the arguments. What is known by its op is left out, with its entries.
const insertPostings = statement(
  'postings_insert',
  `with asked as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[], $7::text[])
       with ordinality as t (op, kind, account_id, asset, amount, network_fee, detail, n)),
   booked as (
     insert into transfers (op, kind, account_id, asset, amount, network_fee, detail)
     select op, kind, account_id, asset, amount, network_fee, detail from asked order by op
     on conflict (op) do nothing
     returning seq, op),
   sides as (
     select b.seq, a.account_id, e.bucket, a.asset, e.amount
     from unnest($8::int[], $9::text[], $10::numeric[]) as e (n, bucket, amount)
     join asked a using (n) join booked b using (op)),
   written as (
     insert into entries (transfer_seq, account_id, bucket, asset, amount)
     select seq, case when bucket in ('available', 'held', 'unresolved') then account_id end, bucket, asset, amount
     from sides order by seq),
   changes as (
     select account_id, asset,
       coalesce(sum(amount) filter (where bucket = 'available'), 0) as available,
       coalesce(sum(amount) filter (where bucket = 'held'), 0) as held,
       coalesce(sum(amount) filter (where bucket = 'unresolved'), 0) as unresolved
     from sides where account_id is not null group by account_id, asset),
   changed as (
     update balances b set
       available = b.available + c.available, held = b.held + c.held, unresolved = b.unresolved + c.unresolved
     from changes c where b.account_id = c.account_id and b.asset = c.asset
     returning 1)
   select (select coalesce(array_agg(op), '{}') from booked) as ops,
     (select count(*) from changes) = (select count(*) from changed) as complete`,
);

const selectBooked = statement(
  'transfers_booked',
  `select op, account_id, asset, amount, network_fee, detail from transfers where op = any($1::text[])`,
);

type BookedRow = {
  op: Op;
  account_id: string | null;
  asset: string;
  amount: string;
  network_fee: string;
  detail: string;
};

/** The same op with other contents: a defect of whoever sent it, never booked and never passed over. */
export class OtherContents extends Error {
  constructor(what: string) {
    super(`${what} was decided before with other contents`);
    this.name = 'OtherContents';
  }
}

/**
 * Books transfers, their entries and their effect on the balances, which must be locked. What was booked
 * before is left as it is.
 * @returns the ops that were booked now.
 */
export async function book(trx: Trx, postings: readonly Posting[]): Promise<Set<Op>> {
  if (postings.length === 0) return new Set();
  const once = new Map<Op, Posting>();
  for (const posting of postings) {
    const first = once.get(posting.op);
    if (first !== undefined && !sameAs(first, rowOf(posting))) throw new OtherContents(posting.op);
    once.set(posting.op, posting);
  }
  const list = [...once.values()];
  const sides = list.flatMap(({ entries }, i) => entries.map((entry) => ({ n: i + 1, ...entry })));
  const { ops, complete } = await trx.one<{ ops: Op[]; complete: boolean }>(insertPostings, [
    list.map(({ op }) => op),
    list.map(({ kind }) => kind),
    list.map(({ account }) => account),
    list.map(({ asset }) => asset),
    list.map(({ amount }) => amount),
    list.map(({ networkFee }) => networkFee),
    list.map(({ detail }) => detail),
    sides.map(({ n }) => n),
    sides.map(({ bucket }) => bucket),
    sides.map(({ amount }) => amount),
  ]);
  invariant(complete, 'every balance that a posting changes is there');
  const booked = new Set(ops);
  const known = list.filter(({ op }) => !booked.has(op));
  if (known.length > 0) await assertSame(trx, known);
  return booked;
}

async function assertSame(trx: Trx, postings: readonly Posting[]): Promise<void> {
  const rows = await trx.rows<BookedRow>(selectBooked, [postings.map(({ op }) => op)]);
  const byOp = new Map(rows.map((row) => [row.op, row]));
  for (const posting of postings) {
    const row = byOp.get(posting.op);
    if (row === undefined || !sameAs(posting, row)) throw new OtherContents(posting.op);
  }
}

const rowOf = (posting: Posting): BookedRow => ({
  op: posting.op,
  account_id: posting.account,
  asset: posting.asset,
  amount: posting.amount.toString(),
  network_fee: posting.networkFee.toString(),
  detail: posting.detail,
});

const sameAs = (posting: Posting, row: BookedRow): boolean =>
  posting.account === row.account_id &&
  posting.asset === row.asset &&
  posting.amount.toString() === row.amount &&
  posting.networkFee.toString() === row.network_fee &&
  posting.detail === row.detail;

const insertReversals = statement(
  'reversals_insert',
  `insert into reversals (deposit_id, account_id, asset, amount, outpoint)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::text[]) on conflict (deposit_id) do nothing`,
);

const selectReversals = statement(
  'reversals_select',
  `select deposit_id, account_id, asset, amount from reversals where deposit_id = any($1::text[])`,
);

type ReversalRow = { deposit_id: DepositId; account_id: AccountId; asset: AssetSymbol; amount: string };

/** Remembers deposits that the chain took back, to be booked when the deposits are. */
export async function rememberReversals(
  trx: Trx,
  deposits: readonly (Deposit & { outpoint: string })[],
): Promise<void> {
  await trx.rows(insertReversals, [
    deposits.map(({ id }) => id),
    deposits.map(({ account }) => account),
    deposits.map(({ asset }) => asset),
    deposits.map(({ amount }) => amount),
    deposits.map(({ outpoint }) => outpoint),
  ]);
  const rows = await trx.rows<ReversalRow>(selectReversals, [deposits.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.deposit_id, row]));
  for (const { id, account, asset, amount } of deposits) {
    const row = byId.get(id);
    const same = row?.account_id === account && row.asset === asset && row.amount === amount.toString();
    if (!same) throw new OtherContents(`the reversal of deposit ${id}`);
  }
}

const selectDue = statement(
  'reversals_due',
  `select r.deposit_id, r.account_id, r.asset, r.amount
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   where r.booked_at is null and (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount)
   order by r.created_at, r.deposit_id limit $1`,
);

/**
 * Reversals that were heard of before their deposits and can be booked now; one that names another account, asset or
 * amount than its deposit never can, and is the auditor's to tell. Locks nothing.
 */
export async function dueReversals(trx: Trx, limit: number): Promise<Deposit[]> {
  const rows = await trx.rows<ReversalRow>(selectDue, [limit]);
  return rows.map((row) => ({
    id: row.deposit_id,
    account: row.account_id,
    asset: row.asset,
    amount: units(row.amount),
  }));
}

// Read under the balances' locks, so that two replicas do not both book one.
const selectUnbooked = statement(
  'reversals_unbooked',
  `select r.deposit_id, t.account_id, t.asset, t.amount, u.state, u.amount as "left",
     coalesce(r.outpoint, d.outpoint) as outpoint,
     (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount) as agrees
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   left join unresolved u on u.deposit_id = r.deposit_id
   left join deposits d on d.deposit_id = r.deposit_id
   where r.deposit_id = any($1::text[]) and r.booked_at is null
   order by r.deposit_id for update of r`,
);

export type UnbookedReversal = {
  deposit: Deposit;
  /** Which payment it is; not known of old ones. */
  outpoint: string | null;
  /** What became of it, when it had gone to no balance. */
  unresolved: Unresolved | null;
  /** The reversal names the account, asset and amount that the deposit was booked with. */
  agrees: boolean;
};

type UnbookedRow = ReversalRow & {
  state: UnresolvedState | null;
  left: string | null;
  outpoint: string | null;
  agrees: boolean;
};

/** Of these deposits, those that are booked while their reversal is not. */
export async function unbookedReversals(trx: Trx, ids: readonly DepositId[]): Promise<UnbookedReversal[]> {
  const rows = await trx.rows<UnbookedRow>(selectUnbooked, [ids]);
  return rows.map(({ deposit_id, account_id, asset, amount, state, left, outpoint, agrees }) => ({
    deposit: { id: deposit_id, account: account_id, asset, amount: units(amount) },
    outpoint,
    unresolved: state === null || left === null ? null : { state, amount: units(left) },
    agrees,
  }));
}

const markReversed = statement(
  'reversals_mark_booked',
  `update reversals set booked_at = now() where deposit_id = any($1::text[])`,
);

export async function markReversalsBooked(trx: Trx, ids: readonly DepositId[]): Promise<void> {
  await trx.rows(markReversed, [ids]);
}
