import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayloadOf, UnresolvedReason } from '@quittance/shared/events';
import type { AccountId, DepositId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { Hold } from '../domain/hold.ts';
import type { LedgerPayout } from '../domain/posting.ts';
import type { SuspenseState } from '../domain/suspense.ts';
import { holdColumns } from './holds.ts';
import { OtherContents, rateNow } from './transfers.ts';

const opened = bulk({
  deposit_id: 'text',
  account_id: 'text',
  asset: 'text',
  amount: 'numeric',
  invoice_id: 'text',
  address: 'text',
  tx_hash: 'text',
  reason: 'text',
});

const insertOpen = statement('unresolved_insert', opened.insertInto('unresolved'));

/** Deposits that were booked now and went to no balance wait for a decision. */
export async function openSuspense(
  trx: Trx,
  deposits: readonly PayloadOf<'deposit.settled'>[],
): Promise<void> {
  if (deposits.length === 0) return;
  await trx.rows(
    insertOpen,
    opened.values(deposits.map((deposit) => ({ ...deposit, reason: deposit.reason ?? null }))),
  );
}

const asked = bulk({
  id: 'payout_id text',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  networkFee: 'numeric',
  deposit: 'deposit_id text',
  isPart: 'bool',
});

/*
 * Holds of refunds, decided like all others (holds.ts): once by payout id, and after the balances are locked, which
 * is why `waiting` counts them first. A deposit changes only while its balance is locked, so `state` stays true until
 * this statement commits. A refund of a part takes it, and the rest stays open; one of all that is left makes the
 * deposit `returning`. A refusal is final, so it is given only where the deposit can never be open again, and where a
 * part of what the refund takes has recovered a write-off: that part never comes back. Of two refunds of one deposit
 * in a statement the first is decided. A deposit that is being refunded, is not here, or has less than the refund
 * leaves its hold undecided. What is written comes from the locked rows: Postgres checks the constraints of an update before
 * it reads a row's newest version.
 */
const decide = query<Hold>(
  'returns_decide',
  `with asked as (
     select * from ${asked.numbered('t', 'n')}),
   known as (
     select payout_id, account_id, asset, amount, network_fee, deposit_id, state from holds
     where payout_id = any($1::text[])),
   open as (
     select a.*, a.amount + a.network_fee as total from asked a
     where not exists (select from known k where k.payout_id = a.payout_id)),
   locked as (
     select account_id, asset, unresolved, held from balances
     where (account_id, asset) in (select account_id, asset from open)
     order by account_id, asset for no key update),
   waiting as (
     select deposit_id, account_id, asset, amount as left_of_it, returning_amount, state from unresolved
     where (select count(*) from locked) > 0 and deposit_id = any($6::text[])
     order by deposit_id for no key update),
   weighed as (
     select o.*, w.left_of_it, w.returning_amount, o.total = w.left_of_it as is_all, row_number() over (partition by deposit_id order by o.n) as turn
     from open o join waiting w using (deposit_id, account_id, asset)
     where w.state = 'open' and (o.total = w.left_of_it or (o.is_part and o.total < w.left_of_it))),
   never as (
     select o.* from open o join waiting w using (deposit_id, account_id, asset)
     where w.state in ('accepted', 'returned', 'reversed')
       or (w.state = 'open' and o.total > w.left_of_it + w.returning_amount and exists (
         select from transfers t where t.kind = 'recovery'
           and t.op > 'recovery:' || o.deposit_id || ':' and t.op < 'recovery:' || o.deposit_id || ';'
         having o.total - w.left_of_it = sum(t.amount) or (o.is_part and o.total - w.left_of_it < sum(t.amount))))),
   fresh_holds as (
     insert into holds (payout_id, account_id, asset, amount, network_fee, deposit_id, state, ended_at)
     select payout_id, account_id, asset, amount, network_fee, deposit_id, 'placed', null from weighed
     where turn = 1
     union all
     select payout_id, account_id, asset, amount, network_fee, deposit_id, 'refused', now() from never
     on conflict (payout_id) do nothing
     returning payout_id, account_id, asset, amount, network_fee, deposit_id, state),
   placed as (
     select h.*, w.total, w.is_all, w.left_of_it, w.returning_amount
     from fresh_holds h join weighed w using (payout_id) where h.state = 'placed'),
   claimed as (
     update unresolved u set
       state = case when p.is_all then 'returning' else u.state end,
       payout_id = case when p.is_all then p.payout_id else u.payout_id end,
       amount = p.left_of_it - case when p.is_all then 0 else p.total end,
       returning_amount = p.returning_amount + case when p.is_all then 0 else p.total end
     from placed p where u.deposit_id = p.deposit_id),
   taken as (
     update balances b set unresolved = l.unresolved - t.total, held = l.held + t.total
     from (select account_id, asset, sum(total) as total from placed group by account_id, asset) t
     join locked l using (account_id, asset)
     where b.account_id = t.account_id and b.asset = t.asset),
   booked as (
     insert into transfers (op, kind, account_id, asset, amount, network_fee, detail, usd_rate)
     select 'hold:' || payout_id, 'hold', account_id, asset, amount, network_fee, deposit_id, ${rateNow('placed.asset')}
     from placed
     returning seq, account_id, asset, amount + network_fee as total),
   written as (
     insert into entries (transfer_seq, account_id, bucket, asset, amount)
     select seq, account_id, bucket, asset, sign * total
     from booked cross join (values ('unresolved', -1), ('held', 1)) as side (bucket, sign))
   select ${holdColumns} from (select * from known union all select * from fresh_holds) as decided`,
);

/** `isPart`: it may be of less than is left of the deposit. */
export type Refund = LedgerPayout & { deposit: DepositId; isPart: boolean };

/**
 * Decides holds of what unresolved deposits have, each once for ever. One statement, its own transaction.
 * @returns what is decided, now or before; those left out are to be asked again.
 */
export async function decideRefunds(db: Queryable, payouts: readonly Refund[]): Promise<Hold[]> {
  const holds = await db.rows(decide, asked.values(payouts));
  const decided = new Set(holds.map(({ id }) => id));
  for (const payout of payouts) if (!decided.has(payout.id)) await assertAskable(db, payout);
  return await Promise.all(holds.map((hold) => withReason(db, hold)));
}

/** What may still be accepted was refused because it is not what it was. */
async function withReason(db: Queryable, hold: Hold): Promise<Hold> {
  if (hold.state !== 'refused' || hold.deposit === null) return hold;
  const item = await findSuspense(db, hold.deposit);
  return item?.state === 'open' ? { ...hold, because: 'used_for_recovery' } : hold;
}

/** Another payout is to pay it back, or a part of it, which may fail: nobody can say yet what will become of it. */
class RefundInProgress extends Error {
  constructor(deposit: DepositId) {
    super(`deposit ${deposit} is on its way back by another payout`);
    this.name = 'RefundInProgress';
  }
}

/** Throws where asking again would bring nothing. */
async function assertAskable(db: Queryable, { account, asset, amount, networkFee, deposit, isPart }: Refund) {
  const item = await findSuspense(db, deposit);
  // Its event has not arrived yet: nobody can say what became of it.
  if (item === undefined) throw new Error(`the ledger has not heard of an unresolved deposit ${deposit}`);
  const total = amount + networkFee;
  const fits = total === item.amount || (isPart && total < item.amount);
  const mayComeBack = item.returning > 0n || (isPart && item.state === 'returning');
  if (item.account !== account || item.asset !== asset || (!fits && !mayComeBack)) {
    throw new OtherContents(`the return of deposit ${deposit}`);
  }
  if (item.state === 'returning' || !fits) throw new RefundInProgress(deposit);
}

export type SuspenseItem = {
  id: DepositId;
  account: AccountId;
  asset: AssetSymbol;
  /** What is left of it. */
  amount: Units;
  /** What payouts of parts are paying back, and what they have paid back. */
  returning: Units;
  returned: Units;
  invoice: string | null;
  txHash: string | null;
  /** Null where an older release settled it. */
  reason: UnresolvedReason | null;
  state: SuspenseState;
  payout: PayoutId | null;
  createdAt: Date;
  resolvedAt: Date | null;
};

export const suspenseColumns = `unresolved.deposit_id as id, account_id as account, asset, amount,
  returning_amount as returning, returned_amount as returned, invoice_id as invoice, tx_hash, reason, state,
  payout_id as payout, created_at, resolved_at`;

const selectOne = query<SuspenseItem>(
  'unresolved_select',
  `select ${suspenseColumns} from unresolved where deposit_id = $1`,
);

export const findSuspense = (db: Queryable, id: DepositId): Promise<SuspenseItem | undefined> =>
  db.maybe(selectOne, [id]);

// The balance first, as everywhere. Locking reads its newest version, the update the deposit's.
const accept = query<SuspenseItem>(
  'unresolved_accept',
  `with locked as (
     select available, unresolved from balances where account_id = $2 and asset = $3 for no key update),
   item as (
     update unresolved set state = 'accepted', resolved_at = now()
     where (select count(*) from locked) = 1
       and deposit_id = $1 and account_id = $2 and asset = $3 and state = 'open'
     returning *),
   moved as (
     update balances b set available = l.available + i.amount, unresolved = l.unresolved - i.amount
     from item i, locked l where b.account_id = i.account_id and b.asset = i.asset),
   booked as (
     insert into transfers (op, kind, account_id, asset, amount, usd_rate)
     select 'accept:' || deposit_id, 'accept', account_id, asset, amount, ${rateNow('item.asset')} from item
     returning seq, account_id, asset, amount),
   written as (
     insert into entries (transfer_seq, account_id, bucket, asset, amount)
     select seq, account_id, bucket, asset, sign * amount
     from booked cross join (values ('unresolved', -1), ('available', 1)) as side (bucket, sign))
   select ${suspenseColumns} from item as unresolved`,
);

/** Moves a deposit into its account's balance if it is open still; undefined when it is not. */
export const acceptSuspense = (
  db: Queryable,
  { id, account, asset }: Pick<SuspenseItem, 'id' | 'account' | 'asset'>,
): Promise<SuspenseItem | undefined> => db.maybe(accept, [id, account, asset]);

/* A payment that is mined again is another deposit: together they are one, of which parts may be returned or written off. */
const sumAccepted = query<{ amount: Units }>(
  'accepted_of_invoice',
  `select coalesce(sum(greatest(payment.amount, 0)), 0) as amount from (
     select sum(moved.amount) as amount from deposits d cross join lateral (
       select e.amount from transfers t join entries e on e.transfer_seq = t.seq and e.bucket = 'available'
       where t.op in ('deposit:' || d.deposit_id, 'accept:' || d.deposit_id)
       union all
       select e.amount from holds h join transfers t on t.op = 'release:' || h.payout_id
         join entries e on e.transfer_seq = t.seq and e.bucket = 'available'
       where h.deposit_id = d.deposit_id
       union all
       select -e.amount from transfers t join entries e on e.transfer_seq = t.seq and e.bucket = 'unresolved'
       where t.op > 'recovery:' || d.deposit_id || ':' and t.op < 'recovery:' || d.deposit_id || ';'
       union all
       select -t.amount - coalesce((
         select sum(e.amount) from entries e where e.transfer_seq = t.seq and e.bucket = 'unresolved'), 0)
       from transfers t where t.op = 'reversal:' || d.deposit_id) as moved
     where d.account_id = $1 and d.asset = $2 and d.invoice_id = $3
     group by d.outpoint) as payment`,
);

/** What the payments of an invoice that were in no balance have brought to it, in this asset, and the chain has not taken back. */
export const acceptedOf = async (
  db: Queryable,
  { account, asset, invoice }: { account: AccountId; asset: AssetSymbol; invoice: string },
): Promise<Units> => (await db.one(sumAccepted, [account, asset, invoice])).amount;

const markReversed = statement(
  'unresolved_mark_reversed',
  `update unresolved set state = 'reversed', resolved_at = now() where deposit_id = any($1::text[])`,
);

export async function markSuspenseReversed(trx: Trx, ids: readonly DepositId[]): Promise<void> {
  await trx.rows(markReversed, [ids]);
}
