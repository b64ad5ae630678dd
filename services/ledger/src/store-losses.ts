import type { AssetSymbol } from '@quittance/shared/assets';
import { query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { bulk } from '@quittance/shared/store-kit';
import type { Deposit } from './domain/posting.ts';
import type { Unresolved, UnresolvedState } from './domain/unresolved.ts';

/** A payment to an account on an asset's chain, of which each deposit is one appearance. */
export type Payment = { account: AccountId; asset: AssetSymbol; outpoint: string };

const kept = bulk({
  account: 'account_id text',
  asset: 'text',
  outpoint: 'text',
  id: 'deposit_id text',
});

// One statement, as every deposit passes here.
const insertDeposits = query<Payment>(
  'deposits_insert',
  `with asked as (
     select * from ${kept.from('t')}),
   kept as (
     insert into deposits (deposit_id, account_id, asset, outpoint)
     select distinct on (deposit_id) deposit_id, account_id, asset, outpoint from asked order by deposit_id
     on conflict (deposit_id) do nothing)
   select distinct account_id as account, asset, outpoint from asked join losses using (account_id, asset, outpoint)
   where amount_left > 0`,
);

/** Keeps which payments these deposits are. @returns those of which a loss is left. */
export async function keepPayments(
  trx: Trx,
  deposits: readonly (Payment & { id: DepositId })[],
): Promise<Payment[]> {
  if (deposits.length === 0) return [];
  return await trx.rows(insertDeposits, kept.values(deposits));
}

const addLoss = statement(
  'losses_add',
  `insert into losses (account_id, asset, outpoint, amount_left) values ($1, $2, $3, $4)
   on conflict (account_id, asset, outpoint) do update set amount_left = losses.amount_left + excluded.amount_left`,
);

/** A reversal could not take back this much. */
export async function openLoss(trx: Trx, { account, asset, outpoint }: Payment, loss: Units): Promise<void> {
  await trx.rows(addLoss, [account, asset, outpoint, loss]);
}

const reduceLoss = statement(
  'losses_reduce',
  `update losses set amount_left = greatest(amount_left - $4::numeric, 0)
   where account_id = $1 and asset = $2 and outpoint = $3`,
);

/** It is made up for, this far. */
export async function makeUpLoss(trx: Trx, { account, asset, outpoint }: Payment, by: Units): Promise<void> {
  await trx.rows(reduceLoss, [account, asset, outpoint, by]);
}

const selectPayments = query<Payment & { payout: PayoutId }>(
  'deposits_payments_of_holds',
  `select d.account_id as account, d.asset, d.outpoint, h.payout_id as payout
   from holds h join deposits d using (deposit_id) where h.payout_id = any($1::text[]) order by h.payout_id`,
);

/** The payments whose money these payouts return. */
export async function returnedPayments(trx: Trx, ids: readonly PayoutId[]): Promise<Map<PayoutId, Payment>> {
  const rows = await trx.rows(selectPayments, [ids]);
  return new Map(rows.map(({ payout, ...payment }) => [payout, payment]));
}

type RepayingRow = Record<'amount' | 'amountLeft' | 'available', Units> & {
  id: DepositId;
  state: UnresolvedState | null;
  unresolved: Units | null;
};

const selectRepaying = query<RepayingRow>(
  'losses_repaying',
  `select d.deposit_id as id, t.amount, l.amount_left, b.available, u.state, u.amount as unresolved
   from losses l join deposits d using (account_id, asset, outpoint)
   join balances b using (account_id, asset)
   join transfers t on t.op = 'deposit:' || d.deposit_id
   left join unresolved u using (deposit_id)
   where l.account_id = $1 and l.asset = $2 and l.outpoint = $3
     and not exists (select from reversals r where r.deposit_id = d.deposit_id and r.booked_at is not null)
   order by d.deposit_id`,
);

export type Repaying = { deposit: Deposit; loss: Units; available: Units; unresolved: Unresolved | null };

/** The deposits in which this payment is in the chain, with the loss of it and the balance. */
export async function repayingDeposits(trx: Trx, payment: Payment): Promise<Repaying[]> {
  const { account, asset, outpoint } = payment;
  const rows = await trx.rows(selectRepaying, [account, asset, outpoint]);
  return rows.map(({ id, amount, amountLeft, available, state, unresolved }) => ({
    deposit: { id, account, asset, amount },
    loss: amountLeft,
    available,
    unresolved: state === null || unresolved === null ? null : { state, amount: unresolved },
  }));
}

/*
 * Nothing is left: what became of the money is what became of it when it came first. Paid back by a payout that is
 * mined or may be still, it is that payout's; else it was in the balance and is spent.
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

/** An open deposit repaid this much of a loss of its payment. */
export async function takeFromOpen(
  trx: Trx,
  deposit: DepositId,
  { account, asset, outpoint }: Payment,
  { taken, isAll }: { taken: Units; isAll: boolean },
): Promise<void> {
  if (isAll) await trx.rows(useUp, [deposit, account, asset, outpoint]);
  else await trx.rows(shrink, [deposit, taken]);
}
