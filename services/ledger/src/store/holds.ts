import { bulk, type Queryable, query, statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';
import type { AskedHold, EndingHold, Hold, HoldState } from '../domain/hold.ts';
import type { LedgerPayout } from '../domain/posting.ts';
import { rateNow } from './transfers.ts';

/** The columns of a hold, from any relation that has those of `holds`. */
export const holdColumns =
  'payout_id as id, account_id as account, asset, amount, network_fee, deposit_id as deposit, state';

const asked = bulk({
  id: 'payout_id text',
  account: 'account_id text',
  asset: 'text',
  amount: 'numeric',
  networkFee: 'numeric',
  takesAll: 'bool',
  invoice: 'invoice_id text',
});

/*
 * Several holds decided at once, in the order they are given (`n`). Each account's money goes to the first
 * that fit: a hold is placed while everything asked for so far fits into what is available, and refused
 * when it alone is more than that. What is neither is left undecided: ask again. A hold that takes all is of what is
 * available, so it is placed only where no hold of this statement comes before it.
 *
 * The row lock is what makes it safe: `locked` waits for whoever has the row and then reads its newest
 * version, so `available` is true until this statement commits. A payout that another replica decides at
 * the same moment does not get a second row (`fresh_holds` leaves it out, and with it everything below),
 * and is found by the next statement. The CHECK on balances stands behind it all. Balances are written from `locked`:
 * Postgres checks the constraints of an update before it reads a row's newest version.
 */
const decide = query<Hold>(
  'holds_decide',
  `with asked as (
     select * from ${asked.numbered('t', 'n')}),
   known as (
     select payout_id, account_id, asset, amount, network_fee, deposit_id, state from holds
     where payout_id = any($1::text[])),
   open as (
     select a.* from asked a
     where not exists (select from known k where k.payout_id = a.payout_id)),
   locked as (
     select account_id, asset, available, held from balances
     where (account_id, asset) in (select account_id, asset from open)
     order by account_id, asset for no key update),
   weighed as (
     select *, amount + network_fee as total from (
       select o.payout_id, o.account_id, o.asset, o.n, o.network_fee, o.invoice_id, coalesce(l.available, 0) as available,
         case when o.takes_all then greatest(o.amount, l.available - o.network_fee) else o.amount end as amount
       from open o left join locked l using (account_id, asset)) as sized),
   queued as (
     select *, sum(total) over (partition by account_id, asset order by n) as total_so_far
     from weighed where total <= available),
   fresh_holds as (
     insert into holds (payout_id, account_id, asset, amount, network_fee, invoice_id, state, ended_at)
     select payout_id, account_id, asset, amount, network_fee, invoice_id, 'placed', null from queued
     where total_so_far <= available
     union all
     select payout_id, account_id, asset, amount, network_fee, invoice_id, 'refused', now() from weighed
     where total > available
     on conflict (payout_id) do nothing
     returning payout_id, account_id, asset, amount, network_fee, deposit_id, state),
   taken as (
     update balances b set available = l.available - t.total, held = l.held + t.total
     from (
       select account_id, asset, sum(amount + network_fee) as total from fresh_holds
       where state = 'placed' group by account_id, asset) t
     join locked l using (account_id, asset)
     where b.account_id = t.account_id and b.asset = t.asset),
   booked as (
     insert into transfers (op, kind, account_id, asset, amount, network_fee, usd_rate)
     select 'hold:' || payout_id, 'hold', account_id, asset, amount, network_fee, ${rateNow('fresh_holds.asset')}
     from fresh_holds
     where state = 'placed'
     returning seq, account_id, asset, amount + network_fee as total),
   written as (
     insert into entries (transfer_seq, account_id, bucket, asset, amount)
     select seq, account_id, bucket, asset, sign * total
     from booked cross join (values ('available', -1), ('held', 1)) as side (bucket, sign))
   select ${holdColumns}, case when state = 'refused' then
     (select w.available from weighed w where w.payout_id = decided.payout_id) end as available
   from (select * from known union all select * from fresh_holds) as decided`,
);

/**
 * Decides holds of what balances have, each once for ever. One statement, its own transaction.
 * @returns what is decided, now or before; those left out are to be asked again.
 */
export const decideHolds = (db: Queryable, asks: readonly AskedHold[]): Promise<Hold[]> =>
  db.rows(decide, asked.values(asks.map((ask) => ({ takesAll: false, invoice: null, ...ask }))));

const selectOne = query<{ id: string }>(
  'holds_one',
  'select payout_id as id from holds where payout_id = $1',
);

/** Whether a payout's hold was decided before. */
export const isDecided = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.maybe(selectOne, [id])) !== undefined;

const lockRows = query<EndingHold>(
  'holds_lock',
  `select h.payout_id as id, h.account_id as account, h.asset, h.amount, h.network_fee, h.deposit_id as deposit, h.state,
     case when h.deposit_id is null or u.state = 'accepted' then 'available'
       when u.state is distinct from 'reversed' then 'unresolved'
       when coalesce(l.amount_left, 1) > 0 then 'loss'
       when exists (select from unresolved n where n.payout_id = h.payout_id and n.state = 'returning') then 'unresolved'
       else 'available' end as back
   from holds h left join unresolved u on u.deposit_id = h.deposit_id
   left join deposits d on d.deposit_id = h.deposit_id
   left join write_offs l on (l.account_id, l.asset, l.outpoint) = (d.account_id, d.asset, d.outpoint)
   where h.payout_id = any($1::text[]) order by h.payout_id for no key update of h`,
);

/**
 * Locks holds, each with the bucket to which its money would return. A part of a deposit whose rest was accepted since is
 * accepted with it. Where the write-off is recovered (recover-write-offs.ts), the
 * same payment was mined again as another deposit: the money belongs to that deposit, which has taken over the payout if it
 * was not decided. The balances are locked before, so the deposits cannot change.
 */
export async function lockHolds(trx: Trx, ids: readonly PayoutId[]): Promise<Map<PayoutId, EndingHold>> {
  return new Map((await trx.rows(lockRows, [ids])).map((hold) => [hold.id, hold]));
}

const tombstones = bulk({ id: 'payout_id text', account: 'account_id text', asset: 'text' });

const insertTombstones = statement(
  'holds_insert_tombstones',
  `insert into holds (payout_id, account_id, asset, state, ended_at)
   select distinct on (payout_id) payout_id, account_id, asset, 'voided', now() from ${tombstones.from('given')}
   order by payout_id on conflict (payout_id) do nothing`,
);

/** Stores a tombstone for each payout without a decision: a hold that is requested later is refused. */
export async function leaveTombstones(
  trx: Trx,
  payouts: readonly Pick<LedgerPayout, 'id' | 'account' | 'asset'>[],
): Promise<void> {
  await trx.rows(insertTombstones, tombstones.values(payouts));
}

const end = statement(
  'holds_end',
  `update holds set state = $2, ended_at = now() where payout_id = any($1::text[]) and state = 'placed'`,
);

export async function markHoldsEnded(trx: Trx, ids: readonly PayoutId[], state: HoldState): Promise<void> {
  await trx.rows(end, [ids, state]);
}
