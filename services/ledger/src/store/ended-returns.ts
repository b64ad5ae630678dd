import { statement, type Trx } from '@quittance/shared/db';
import type { PayoutId } from '@quittance/shared/ids';

// Only as long as it is this payout's: what is told again finds it in another state or with another payout.
const markReturned = statement(
  'unresolved_mark_returned',
  `update unresolved u set state = 'returned', resolved_at = now() from holds h
   where h.payout_id = any($1::text[]) and u.payout_id = h.payout_id and u.state = 'returning'`,
);

const isOfPart = `h.payout_id = $1 and u.deposit_id = h.deposit_id and u.payout_id is distinct from h.payout_id`;

const markPartReturned = statement(
  'unresolved_mark_part_returned',
  `update unresolved u set returning_amount = u.returning_amount - h.amount - h.network_fee,
     returned_amount = u.returned_amount + h.amount + h.network_fee
   from holds h where ${isOfPart}`,
);

/** The payouts that paid them back, or parts of them, are mined. Once for each payout. */
export async function markRefunded(trx: Trx, payouts: readonly PayoutId[]): Promise<void> {
  for (const id of payouts) await trx.rows(markPartReturned, [id]);
  await trx.rows(markReturned, [payouts]);
}

const openAgain = statement(
  'unresolved_open_again',
  `update unresolved u set state = 'open', payout_id = null,
     amount = u.amount - case when $2 then h.network_fee else 0 end
   from holds h where h.payout_id = $1 and u.payout_id = h.payout_id and u.state = 'returning'`,
);

/*
 * A part comes back to the deposit as the deposit is now. Where another payout has taken all the rest, the deposit is open
 * again with this part, and that payout becomes one of a part.
 */
const givePartBack = statement(
  'unresolved_give_part_back',
  `with part as (
     select u.deposit_id, u.amount as rest, u.state as former, h.amount + h.network_fee as total,
       h.amount + case when $2 then 0 else h.network_fee end as back,
       u.state in ('returning', 'returned') as is_other,
       exists (select from holds o where o.payout_id = u.payout_id and o.deposit_id = u.deposit_id) as is_own
     from unresolved u join holds h on ${isOfPart})
   update unresolved u set
     state = case when p.is_other then 'open' else u.state end,
     payout_id = case when p.is_other then null else u.payout_id end,
     resolved_at = case when p.is_other then null else u.resolved_at end,
     amount = case when p.is_other then p.back when p.former = 'reversed' then u.amount else u.amount + p.back end,
     returning_amount = u.returning_amount - p.total
       + case when p.former = 'returning' and p.is_own then p.rest else 0 end,
     returned_amount = u.returned_amount + case when p.former = 'returned' and p.is_own then p.rest else 0 end
   from part p where u.deposit_id = p.deposit_id`,
);

/** The payouts that were to pay them back will never be mined; `feeKept` when the chain took its fee. Once for each payout. */
export async function reopenSuspense(
  trx: Trx,
  payouts: readonly { id: PayoutId; feeKept: boolean }[],
): Promise<void> {
  for (const { id, feeKept } of payouts) {
    // A payout that has ended is none of a part.
    await trx.rows(givePartBack, [id, feeKept]);
    await trx.rows(openAgain, [id, feeKept]);
  }
}
