import { events, type Service, services } from '@quittance/shared/events';
import { unconfirmed } from './events-on-the-way.ts';
import type { Invariant } from './invariant.ts';

/** For each service, the rows of the other services' outboxes that should be in its inbox and are not. */
function undelivered(those: string): string {
  const queries: string[] = [];
  for (const sender of services) {
    for (const receiver of services) {
      const eventKinds = Object.entries(events)
        .filter(([, event]) => event.from === sender && (event.to as readonly Service[]).includes(receiver))
        .map(([kind]) => `'${kind}'`);
      if (eventKinds.length === 0) continue;
      queries.push(`
        select '${sender} sent ' || o.kind || ' ' || o.id || ', ${receiver} ' || case
          when exists (select 1 from ${receiver}.dead_letters k where k.event_id = o.id) then 'has it as a dead letter'
          else 'does not have it' end as what,
          o.payload ->> 'asset' as asset, o.id || ' ${receiver}' as subject
        from ${sender}.outbox o
        where ${those} and o.kind in (${eventKinds.join(', ')}) and o.created_at < now() - $1::int * interval '1 second'
          and not exists (select 1 from ${receiver}.inbox i where i.event_id = o.id)`);
    }
  }
  return queries.join('\nunion all');
}

/** Work that has ended must leave nothing behind: a deposit being returned or swept, a locked UTXO. */
const leftInTransit = `
  select 'deposit ' || u.deposit_id || ' is being returned by payout ' || u.payout_id || ', whose hold is ' ||
    coalesce(h.state, 'missing') as what, u.asset, 'return ' || u.deposit_id as subject
  from ledger.unresolved u left join ledger.holds h on h.payout_id = u.payout_id
  where u.state = 'returning' and h.state is distinct from 'placed'
  union all
  select 'deposit ' || h.deposit_id || ' is being swept by replacement group ' || h.sweep_id || ', of which nothing is open', h.asset,
    'sweep ' || h.deposit_id
  from payouts.unswept_deposits h
  where h.state = 'sweeping' and h.reversed_at is null and not exists (
    select 1 from payouts.transactions t where t.replacement_group = h.sweep_id and t.state in ('signed', 'broadcast'))
  union all
  select 'UTXO ' || c.outpoint || ' is locked by replacement group ' || c.locked_by || ', of which nothing is open', 'BTC',
    'UTXO ' || c.outpoint
  from payouts.utxos c
  where c.state = 'locked' and c.reversed_at is null and not exists (
    select 1 from payouts.transactions t where t.replacement_group = c.locked_by and t.state in ('signed', 'broadcast'))`;

/** Work that takes a worker seconds, and is not done after ten grace periods. */
const overdue = `
  select 'payout ' || p.id || ' was asked for at ' || p.created_at || ' and never decided' as what, p.asset,
    'payout ' || p.id || ' undecided' as subject
  from payouts.payouts p
  where p.status = 'requested' and p.created_at < now() - $1::int * interval '10 seconds'
  union all
  select 'deposit ' || r.deposit_id || ' was taken back by its chain, its reversal is not booked', r.asset,
    'deposit ' || r.deposit_id || ' waiting'
  from ledger.reversals r join ledger.transfers t on t.op = 'deposit:' || r.deposit_id
  where r.booked_at is null and greatest(r.created_at, t.created_at) < now() - $1::int * interval '10 seconds'`;

/** Events arrive, and work that was begun comes to an end. */
export const progressInvariants: readonly Invariant[] = [
  {
    number: 'I7',
    name: 'events-reach-receivers',
    meaning: 'every event has reached the services it was sent to',
    pausesPayouts: false,
    sql: undelivered('true'),
    recent: () => undelivered(unconfirmed),
  },
  {
    number: 'I10',
    name: 'nothing-left-in-transit',
    meaning: 'money in transit is gone when the work it belongs to has ended',
    pausesPayouts: true,
    sql: leftInTransit,
    recent: () => leftInTransit,
  },
  {
    number: 'I10',
    name: 'work-is-finished',
    meaning: 'whatever is begun comes to an end',
    pausesPayouts: false,
    sql: overdue,
    recent: () => overdue,
  },
];
