import { placeLostHold } from '@quittance/ledger/operations/place-lost-hold';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Db, Trx } from '@quittance/shared/db';
import { type EventRoute, eventRoutes, type Service } from '@quittance/shared/events';
import type { AccountId, PayoutId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';

/** What one service has done, and another does not know since it was restored. */

export type LostEvents = { sender: Service; receiver: Service; kind: string; count: number };

/**
 * Events that their sender counts as processed and that are not in the receiver's inbox, which keeps all that an outbox has
 * (docs/decisions/0017). A hold that is not there cannot end: its event waits until the hold is placed again.
 */
const lost = ({ receiver, kind }: EventRoute): string => `
  o.kind = '${kind}' and '${receiver}' = any(o.confirmed_by)
  and not exists (select from ${receiver}.inbox i where i.event_id = o.id)
  and not exists (select from ${receiver}.dead_letters d where d.event_id = o.id)
  ${
    kind === 'hold.settle' || kind === 'hold.release'
      ? `and exists (select from ledger.holds h where h.payout_id = o.payload ->> 'payout_id')`
      : ''
  }`;

export async function lostEvents(db: Pick<Db, 'rows'>): Promise<LostEvents[]> {
  const queries = eventRoutes.map(
    (route) =>
      `select '${route.sender}' as sender, '${route.receiver}' as receiver, '${route.kind}' as kind, count(*)::int as count
       from ${route.sender}.outbox o where ${lost(route)}`,
  );
  const found = await db.rows<LostEvents>(queries.join(' union all '));
  return found.filter(({ count }) => count > 0);
}

/** Has their senders send them again. A receiver books what an event says once, whatever its sender repeats. */
export async function sendLostEventsAgain(trx: Trx): Promise<LostEvents[]> {
  const sent: LostEvents[] = [];
  for (const route of eventRoutes) {
    const { sender, receiver, kind } = route;
    const { count } = await trx.one<{ count: number }>(
      `with again as (
         update ${sender}.outbox o set sent_at = null, claimed_until = null, confirmed_at = null,
           confirmed_by = array_remove(o.confirmed_by, '${receiver}')
         where ${lost(route)} returning 1)
       select count(*)::int as count from again`,
    );
    if (count > 0) sent.push({ sender, receiver, kind, count });
  }
  return sent;
}

export type LostHold = {
  id: PayoutId;
  account: AccountId;
  asset: AssetSymbol;
  amount: string;
  fee: string;
  invoice: string | null;
  status: string;
};

/** Payouts that the ledger must have held money for, of which it knows no hold. Those that pay a deposit back are not among them. */
export const lostHolds = (db: Pick<Db, 'rows'>): Promise<LostHold[]> =>
  db.rows<LostHold>(
    `select p.id::text as id, p.account_id as account, p.asset, p.amount::text as amount, p.network_fee::text as fee,
       p.invoice_id as invoice, p.status
     from payouts.payouts p
     where p.status in ('mined', 'failed') and p.returns_deposit is null
       and not exists (select from ledger.holds h where h.payout_id = p.id::text)
     order by p.seq`,
  );

/** @param trx whose search path is the ledger's schema */
export const placeAgain = (trx: Trx, { id, account, asset, amount, fee, invoice }: LostHold) =>
  placeLostHold(trx, {
    ...{ id, account, asset, invoice, deposit: null },
    amount: units(amount),
    networkFee: units(fee),
  });

/**
 * Ends of holds that arrived while the hold was lost are dead letters by then: their senders send them again.
 * @returns how many
 */
export async function retryEndsOfHolds(trx: Trx, by: string): Promise<number> {
  const ends = await trx.rows(
    `select operator.retry_dead_letter('ledger', d.event_id, $1) from ledger.dead_letters d
     where d.kind in ('hold.settle', 'hold.release')
       and exists (select from ledger.holds h where h.payout_id = d.envelope -> 'payload' ->> 'payout_id')`,
    [by],
  );
  return ends.length;
}
