import { onTheWay } from './events-on-the-way.ts';
import type { Watermarks } from './watermarks.ts';

/** Which payouts, refunds and deposits a check of what is new must read. */

/** Payouts that have not ended, or whose end the ledger has not processed. */
export const openPayouts = `
  select id from payouts.payouts where status = 'requested'
  union select id from payouts.payouts where status = 'awaiting_approval'
  union select id from payouts.payouts where status = 'reserved'
  union select id from payouts.payouts where status = 'planned'
  union select m.payout_id from payouts.transactions t join payouts.payments m on m.replacement_group = t.replacement_group
    where t.state in ('signed', 'broadcast')
  ${(['hold.settle', 'hold.release', 'hold.void'] as const)
    .map((kind) => `union select (payload ->> 'payout_id')::bigint from (${onTheWay(kind, 'ledger')}) as w`)
    .join('\n')}`;

/** Open payouts, and those that the ledger has booked since the watermarks. */
export const recentPayouts = ({ transfers }: Watermarks): string => `${openPayouts}
  union select substr(op, strpos(op, ':') + 1)::bigint from ledger.transfers
    where seq > ${transfers} and kind in ('hold', 'settle', 'release')`;

/** Refunds that have not ended, and those of recent payouts. */
export const recentRefunds = (since: Watermarks): string => `
  select id from payouts.refunds where state = 'claimable'
  union select id from payouts.refunds where state = 'pending'
  union select refund_id from payouts.payouts where refund_id is not null and id in (${recentPayouts(since)})`;

/** Deposits that were reported, booked or reversed since the watermarks. */
export const recentDeposits = ({ transfers, deposits }: Watermarks): string => `
  select o.payload ->> 'deposit_id' from invoices.outbox o
    where o.seq > ${deposits} and o.kind in ('deposit.settled', 'deposit.reversed')
  union select w.payload ->> 'deposit_id' from (${onTheWay('deposit.settled', 'ledger')}) as w
  union select w.payload ->> 'deposit_id' from (${onTheWay('deposit.reversed', 'ledger')}) as w
  union select substr(op, strpos(op, ':') + 1) from ledger.transfers
    where seq > ${transfers} and kind in ('deposit', 'reversal')`;
