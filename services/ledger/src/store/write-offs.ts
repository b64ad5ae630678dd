import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, query, statement, type Trx } from '@quittance/shared/db';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { LedgerDeposit } from '../domain/posting.ts';
import type { Suspense, SuspenseState } from '../domain/suspense.ts';

/** A payment to an account on an asset's chain, of which each deposit is one appearance. */
export type CreditedPayment = { account: AccountId; asset: AssetSymbol; outpoint: string };

const kept = bulk({
  account: 'account_id text',
  asset: 'text',
  outpoint: 'text',
  id: 'deposit_id text',
});

// One statement, as every deposit passes here.
const insertDeposits = query<CreditedPayment>(
  'deposits_insert',
  `with asked as (
     select * from ${kept.from('t')}),
   kept as (
     insert into deposits (deposit_id, account_id, asset, outpoint)
     select distinct on (deposit_id) deposit_id, account_id, asset, outpoint from asked order by deposit_id
     on conflict (deposit_id) do nothing)
   select distinct account_id as account, asset, outpoint from asked join write_offs using (account_id, asset, outpoint)
   where amount_left > 0`,
);

/** Stores which payments these deposits are. @returns the payments whose write-off is not recovered in full. */
export async function keepPayments(
  trx: Trx,
  deposits: readonly (CreditedPayment & { id: DepositId })[],
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
export async function returnedPayments(
  trx: Trx,
  ids: readonly PayoutId[],
): Promise<Map<PayoutId, CreditedPayment>> {
  const rows = await trx.rows(selectPayments, [ids]);
  return new Map(rows.map(({ payout, ...payment }) => [payout, payment]));
}

type RecoverableRow = Record<'amount' | 'amountLeft' | 'available', Units> & {
  id: DepositId;
  state: SuspenseState | null;
  unresolved: Units | null;
};

const selectRecoverable = query<RecoverableRow>(
  'write_offs_recoverable',
  `select d.deposit_id as id, t.amount, l.amount_left, b.available, u.state, u.amount as unresolved
   from write_offs l join deposits d using (account_id, asset, outpoint)
   join balances b using (account_id, asset)
   join transfers t on t.op = 'deposit:' || d.deposit_id
   left join unresolved u using (deposit_id)
   where l.account_id = $1 and l.asset = $2 and l.outpoint = $3
     and not exists (select from reversals r where r.deposit_id = d.deposit_id and r.booked_at is not null)
   order by d.deposit_id`,
);

export type Recoverable = {
  deposit: LedgerDeposit;
  writtenOff: Units;
  available: Units;
  unresolved: Suspense | null;
};

/** The deposits in which this payment is in the chain, with its write-off and the account's balance. */
export async function recoverableDeposits(trx: Trx, payment: CreditedPayment): Promise<Recoverable[]> {
  const { account, asset, outpoint } = payment;
  const rows = await trx.rows(selectRecoverable, [account, asset, outpoint]);
  return rows.map(({ id, amount, amountLeft, available, state, unresolved }) => ({
    deposit: { id, account, asset, amount },
    writtenOff: amountLeft,
    available,
    unresolved: state === null || unresolved === null ? null : { state, amount: unresolved },
  }));
}

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
