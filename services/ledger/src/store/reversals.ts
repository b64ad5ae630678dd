import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { LedgerDeposit } from '../domain/posting.ts';
import type { Suspense } from '../domain/suspense.ts';
import { OtherContents } from './transfers.ts';

const reversals = bulk({
  id: 'deposit_id text',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  outpoint: 'text',
});

const insertReversals = statement(
  'reversals_insert',
  `${reversals.insertInto('reversals')} on conflict (deposit_id) do nothing`,
);

const selectReversals = query<LedgerDeposit>(
  'reversals_select',
  `select deposit_id as id, account_id as account, asset, amount from reversals where deposit_id = any($1::text[])`,
);

/** Stores deposits that the chain took back, to be booked when the deposits are. */
export async function rememberReversals(
  trx: Trx,
  deposits: readonly (LedgerDeposit & { outpoint: string })[],
): Promise<void> {
  await trx.rows(insertReversals, reversals.values(deposits));
  const rows = await trx.rows(selectReversals, [deposits.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { id, account, asset, amount } of deposits) {
    const row = byId.get(id);
    const same = row?.account === account && row.asset === asset && row.amount === amount;
    if (!same) throw new OtherContents(`the reversal of deposit ${id}`);
  }
}

const selectDue = query<LedgerDeposit>(
  'reversals_due',
  `select r.deposit_id as id, r.account_id as account, r.asset, r.amount
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   where r.booked_at is null and (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount)
   order by r.created_at, r.deposit_id limit 1`,
);

/**
 * A reversal that came before its deposit and can be booked now. One that names another account, asset or amount than
 * its deposit never can, and the auditor reports it. Locks nothing.
 */
export const dueReversal = (trx: Trx): Promise<LedgerDeposit | undefined> => trx.maybe(selectDue);

/** A deposit that was taken back, and what became of it when it had gone to no balance. */
type UnbookedReversal = LedgerDeposit &
  Suspense & {
    /** Which payment it is; not known of old ones. */
    outpoint: string | null;
    /** The reversal names the account, asset and amount that the deposit was booked with. */
    agrees: boolean;
  };

// Read under the balances' locks, so that two replicas do not both book one.
const selectUnbooked = query<UnbookedReversal>(
  'reversals_unbooked',
  `select r.deposit_id as id, t.account_id as account, t.asset, t.amount, u.state, u.amount as "left",
     coalesce(r.outpoint, d.outpoint) as outpoint,
     (r.account_id, r.asset, r.amount) = (t.account_id, t.asset, t.amount) as agrees
   from reversals r join transfers t on t.op = 'deposit:' || r.deposit_id
   left join unresolved u on u.deposit_id = r.deposit_id
   left join deposits d on d.deposit_id = r.deposit_id
   where r.deposit_id = any($1::text[]) and r.booked_at is null
   order by r.deposit_id for update of r`,
);

/** Of these deposits, those that are booked while their reversal is not. */
export const unbookedReversals = (trx: Trx, ids: readonly DepositId[]): Promise<UnbookedReversal[]> =>
  trx.rows(selectUnbooked, [ids]);

const markReversed = statement(
  'reversals_mark_booked',
  `update reversals set booked_at = now() where deposit_id = any($1::text[])`,
);

export async function markReversalsBooked(trx: Trx, ids: readonly DepositId[]): Promise<void> {
  await trx.rows(markReversed, [ids]);
}

/** A payment to an account on an asset's chain, of which each deposit is one appearance. */
export type CreditedPayment = { account: AccountId; asset: AssetSymbol; outpoint: string };

const kept = bulk({
  account: 'account_id text',
  asset: 'text',
  outpoint: 'text',
  id: 'deposit_id text',
  invoice: 'invoice_id text',
});

// One statement, as every deposit passes here.
const insertDeposits = query<CreditedPayment>(
  'deposits_insert',
  `with asked as (
     select * from ${kept.from('t')}),
   kept as (
     insert into deposits (deposit_id, account_id, asset, outpoint, invoice_id)
     select distinct on (deposit_id) deposit_id, account_id, asset, outpoint, invoice_id from asked order by deposit_id
     on conflict (deposit_id) do nothing)
   select distinct account_id as account, asset, outpoint from asked join write_offs using (account_id, asset, outpoint)
   where amount_left > 0`,
);

/** Stores which payments these deposits are. @returns the payments whose write-off is not recovered in full. */
export async function keepPayments(
  trx: Trx,
  deposits: readonly (CreditedPayment & { id: DepositId; invoice: string | null })[],
): Promise<CreditedPayment[]> {
  if (deposits.length === 0) return [];
  return await trx.rows(insertDeposits, kept.values(deposits));
}

const addWriteOff = statement(
  'write_offs_add',
  `insert into write_offs (account_id, asset, outpoint, amount_left) values ($1, $2, $3, $4)
   on conflict (account_id, asset, outpoint) do update set amount_left = write_offs.amount_left + excluded.amount_left`,
);

/** Writes off what a reversal could not take back: the merchant had spent it. */
export async function openWriteOff(
  trx: Trx,
  { account, asset, outpoint }: CreditedPayment,
  writtenOff: Units,
): Promise<void> {
  await trx.rows(addWriteOff, [account, asset, outpoint, writtenOff]);
}

const subtractRecovery = statement(
  'write_offs_reduce',
  `update write_offs set amount_left = greatest(amount_left - $4::numeric, 0)
   where account_id = $1 and asset = $2 and outpoint = $3`,
);

/** Reduces a write-off by what was recovered. */
export async function reduceWriteOff(
  trx: Trx,
  { account, asset, outpoint }: CreditedPayment,
  by: Units,
): Promise<void> {
  await trx.rows(subtractRecovery, [account, asset, outpoint, by]);
}

const selectPayments = query<CreditedPayment & { payout: PayoutId }>(
  'deposits_payments_of_holds',
  `select d.account_id as account, d.asset, d.outpoint, h.payout_id as payout
   from holds h join deposits d using (deposit_id) where h.payout_id = any($1::text[]) order by h.payout_id`,
);

/** The payments whose money these payouts refund. */
export const returnedPayments = (
  trx: Trx,
  ids: readonly PayoutId[],
): Promise<(CreditedPayment & { payout: PayoutId })[]> => trx.rows(selectPayments, [ids]);

/** A deposit in which a written-off payment is in the chain, with its write-off and the account's balance. */
type Recoverable = LedgerDeposit & Suspense & Record<'writtenOff' | 'available', Units>;

const selectRecoverable = query<Recoverable>(
  'write_offs_recoverable',
  `select d.deposit_id as id, d.account_id as account, d.asset, t.amount, l.amount_left as written_off, b.available,
     u.state, u.amount as "left"
   from write_offs l join deposits d using (account_id, asset, outpoint)
   join balances b using (account_id, asset)
   join transfers t on t.op = 'deposit:' || d.deposit_id
   left join unresolved u using (deposit_id)
   where l.account_id = $1 and l.asset = $2 and l.outpoint = $3
     and not exists (select from reversals r where r.deposit_id = d.deposit_id and r.booked_at is not null)
   order by d.deposit_id`,
);

export const recoverableDeposits = (
  trx: Trx,
  { account, asset, outpoint }: CreditedPayment,
): Promise<Recoverable[]> => trx.rows(selectRecoverable, [account, asset, outpoint]);

/*
 * Nothing of the deposit is left. Its money went where it went when the payment came first: to a payout that refunded it
 * and is mined or still may be, otherwise to the balance, from which it was spent.
 */
const useUp = statement(
  'unresolved_use_up',
  `with before as (
     select h.payout_id, h.state, h.amount + h.network_fee as total
     from deposits d join unresolved u using (deposit_id) join holds h on h.payout_id = u.payout_id
     where d.account_id = $2 and d.asset = $3 and d.outpoint = $4
       and u.state = 'reversed' and h.state in ('placed', 'settled')
     order by u.resolved_at desc limit 1)
   update unresolved u set
     state = coalesce((select case state when 'placed' then 'returning' else 'returned' end from before), 'accepted'),
     payout_id = (select payout_id from before),
     amount = coalesce((select total from before), u.amount),
     resolved_at = case when exists (select from before where state = 'placed') then null else now() end
   where deposit_id = $1 and state = 'open'`,
);

const shrink = statement(
  'unresolved_shrink',
  `update unresolved set amount = amount - $2::numeric where deposit_id = $1 and state = 'open'`,
);

/** Takes what was recovered from a deposit in suspense. */
export async function takeFromOpen(
  trx: Trx,
  deposit: DepositId,
  { account, asset, outpoint }: CreditedPayment,
  { taken, isAll }: { taken: Units; isAll: boolean },
): Promise<void> {
  if (isAll) await trx.rows(useUp, [deposit, account, asset, outpoint]);
  else await trx.rows(shrink, [deposit, taken]);
}
