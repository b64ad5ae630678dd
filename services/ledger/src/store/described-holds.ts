import type { AssetSymbol } from '@quittance/shared/assets';
import { bulk, type Queryable, query } from '@quittance/shared/db';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import type { Hold } from '../domain/hold.ts';

/** A hold as a signer compares it with a payout. A tombstone has amounts of zero. */
export type HoldWithDeposits = {
  id: PayoutId;
  account: AccountId;
  asset: AssetSymbol;
  amount: Units;
  networkFee: Units;
  destination: string | null;
  state: Hold['state'];
  available: Units;
  depositedSince: Units;
};

const asked = bulk({ id: 'payout_id text', since: 'timestamptz' });

/*
 * A transfer has its time before it is committed, so a check that began shortly after that time may not have seen it: deposits
 * of some seconds before `since` count too. A deposit that was accepted counts with its whole amount, by when it was booked:
 * that is never less than what it has brought.
 */
export const selectDescribed = query<HoldWithDeposits>(
  'holds_describe',
  `with asked as (
     select payout_id, coalesce(since, '-infinity') - interval '10 seconds' as since from ${asked.from('a')}),
   described as (
     select h.payout_id, h.account_id, h.asset, coalesce(h.amount, 0) as amount, coalesce(h.network_fee, 0) as network_fee,
       h.deposit_id, h.state, p.destination, a.since
     from asked a join holds h using (payout_id) left join hold_proofs p using (payout_id)),
   deposited as (
     select b.account_id, b.asset, b.since, coalesce(sum(t.amount), 0) as amount
     from (select distinct account_id, asset, since from described where deposit_id is null) b
     left join transfers t on t.account_id = b.account_id and t.asset = b.asset and t.created_at >= b.since
       and t.kind = 'deposit'
       and (t.detail = 'credit'
         or exists (select from transfers x where x.op = 'accept:' || substr(t.op, length('deposit:') + 1)))
     group by b.account_id, b.asset, b.since)
   select h.payout_id as id, h.account_id as account, h.asset, h.amount, h.network_fee, h.destination, h.state,
     case when h.deposit_id is null then coalesce(b.available, 0) else 0 end as available,
     case when h.deposit_id is null then d.amount else coalesce((
       select t.amount from transfers t where t.op = 'deposit:' || h.deposit_id and t.created_at >= h.since), 0)
     end as deposited_since
   from described h
   left join balances b on b.account_id = h.account_id and b.asset = h.asset
   left join deposited d on d.account_id = h.account_id and d.asset = h.asset and d.since = h.since`,
);

/** Those of the payouts that have a hold. `since`: from which time on deposits are summed; null: all. */
export const describedHolds = (
  db: Queryable,
  payouts: readonly { id: string; since: Date | null }[],
): Promise<HoldWithDeposits[]> => db.rows(selectDescribed, asked.values(payouts));
