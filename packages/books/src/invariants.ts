import { events, type Service, services } from '@quittance/shared/events';

/**
 * One thing that must be true of the books, as the query that finds what breaks it. Each row it returns is
 * a breach with a text `what`. `$1` is the patience in seconds: what is younger may still be on its way.
 */
export type Invariant = {
  name: string;
  meaning: string;
  /** It looks at one service's tables only, so it holds whether or not the others are there. */
  alone?: true;
  sql: string;
};

const units = (column: string) => `${column}::text`;

export const invariants: readonly Invariant[] = [
  {
    name: 'I1',
    meaning: 'the entries of every transfer sum to zero, per asset',
    alone: true,
    sql: `
      select 'transfer ' || transfer_seq || ' is off by ' || ${units('sum(amount)')} || ' ' || asset as what
      from ledger.entries group by transfer_seq, asset having sum(amount) <> 0
      union all
      select 'transfer ' || seq || ' (' || op || ') has no entries'
      from ledger.transfers t where not exists (select 1 from ledger.entries e where e.transfer_seq = t.seq)
      union all
      select distinct 'entries of transfer ' || transfer_seq || ', which does not exist'
      from ledger.entries e where not exists (select 1 from ledger.transfers t where t.seq = e.transfer_seq)`,
  },
  {
    name: 'I2',
    meaning: 'every balance equals the sum of its entries',
    alone: true,
    sql: `
      with booked as (
        select account_id, asset, bucket, sum(amount) as amount from ledger.entries
        where account_id is not null group by account_id, asset, bucket),
      shown as (
        select account_id, asset, bucket, amount from ledger.balances,
        lateral (values ('available', available), ('held', held), ('unresolved', unresolved)) as b(bucket, amount))
      select coalesce(s.account_id, b.account_id) || ' ' || coalesce(s.asset, b.asset) || ' ' ||
        coalesce(s.bucket, b.bucket) || ' shows ' || ${units('coalesce(s.amount, 0)')} ||
        ', its entries say ' || ${units('coalesce(b.amount, 0)')} as what
      from shown s full join booked b using (account_id, asset, bucket)
      where coalesce(s.amount, 0) <> coalesce(b.amount, 0)`,
  },
  {
    name: 'I3',
    meaning:
      'nothing is negative, what is held is the sum of the open holds, what is unresolved that of the open deposits',
    alone: true,
    sql: `
      select account_id || ' ' || asset || ' is negative' as what
      from ledger.balances where available < 0 or held < 0 or unresolved < 0
      union all
      select coalesce(b.account_id, h.account_id) || ' ' || coalesce(b.asset, h.asset) || ' holds ' ||
        ${units('coalesce(b.held, 0)')} || ', its open holds sum to ' || ${units('coalesce(h.held, 0)')}
      from ledger.balances b
      full join (
        select account_id, asset, sum(amount + network_fee) as held from ledger.holds
        where state = 'placed' group by account_id, asset) h using (account_id, asset)
      where coalesce(b.held, 0) <> coalesce(h.held, 0)
      union all
      select coalesce(b.account_id, u.account_id) || ' ' || coalesce(b.asset, u.asset) || ' has ' ||
        ${units('coalesce(b.unresolved, 0)')} || ' unresolved, its open deposits sum to ' || ${units('coalesce(u.open, 0)')}
      from ledger.balances b
      full join (
        select account_id, asset, sum(amount) as open from ledger.unresolved
        where state = 'open' group by account_id, asset) u using (account_id, asset)
      where coalesce(b.unresolved, 0) <> coalesce(u.open, 0)`,
  },
  {
    name: 'I4',
    meaning: 'a payout has one confirmed transaction when mined, none when failed, and a hold that agrees',
    sql: `
      with confirmed as (
        select m.payout_id, count(*) as n
        from payouts.payments m join payouts.transactions t on t.family = m.family
        where t.state = 'mined' group by m.payout_id)
      select 'payout ' || p.id || ' is ' || p.status || ' with ' || coalesce(c.n, 0) || ' confirmed transactions' as what
      from payouts.payouts p left join confirmed c on c.payout_id = p.id
      where (p.status = 'mined' and coalesce(c.n, 0) <> 1) or (p.status <> 'mined' and coalesce(c.n, 0) > 0)
      union all
      select 'payout ' || p.id || ' and what is paid for it differ in address or amount'
      from payouts.payouts p join payouts.payments m on m.payout_id = p.id
      where (p.address, p.amount) is distinct from (m.address, m.amount)
      union all
      select 'payout ' || p.id || ' is ' || p.status || ', its hold is ' || coalesce(h.state, 'missing')
      from payouts.payouts p left join ledger.holds h on h.payout_id = p.id::text
      where p.updated_at < now() - $1::int * interval '1 second' and (
        (p.status in ('reserved', 'signed', 'broadcast') and h.state is distinct from 'placed')
        or (p.status = 'mined' and h.state is distinct from 'settled')
        or (p.status = 'failed' and h.state is distinct from 'released')
        or (p.status in ('refused', 'voided') and h.state in ('placed', 'settled')))
      union all
      select 'payout ' || p.id || ' and its hold differ in account, asset, amount or fee'
      from payouts.payouts p join ledger.holds h on h.payout_id = p.id::text
      where h.state <> 'voided' and
        (p.account_id, p.asset, p.amount, p.network_fee) is distinct from (h.account_id, h.asset, h.amount, h.network_fee)
      union all
      select 'a hold of ' || ${units('h.amount')} || ' ' || h.asset || ' for payout ' || h.payout_id || ', which does not exist'
      from ledger.holds h
      where h.state in ('placed', 'settled') and not exists (select 1 from payouts.payouts p where p.id::text = h.payout_id)`,
  },
  {
    name: 'I5',
    meaning: 'every deposit that is final and ours is credited exactly once, nothing else is credited',
    sql: `
      select 'deposit ' || d.id || ' settled at ' || d.settled_at || ' is not in the ledger' as what
      from invoices.deposits d
      where d.settled_at < now() - $1::int * interval '1 second'
        and not exists (select 1 from ledger.transfers t where t.op = 'deposit:' || d.id)
      union all
      select t.op || ' is in the ledger, no settled deposit of that account, asset and amount is behind it'
      from ledger.transfers t
      where t.kind = 'deposit' and not exists (
        select 1 from invoices.deposits d join invoices.invoices i on i.id = d.invoice_id
        where 'deposit:' || d.id = t.op and d.settled_at is not null
          and (i.account_id, d.asset) = (t.account_id, t.asset)
          and d.amount = (select sum(e.amount) from ledger.entries e
                          where e.transfer_seq = t.seq and e.bucket in ('available', 'unresolved')))
      union all
      select 'outpoint ' || d.chain || ' ' || d.outpoint || ' is credited ' || count(*) || ' times'
      from invoices.deposits d
      join ledger.transfers t on t.op = 'deposit:' || d.id
      where not exists (select 1 from ledger.transfers r where r.op = 'reversal:' || d.id)
      group by d.chain, d.outpoint having count(*) > 1`,
  },
  {
    name: 'I7',
    meaning: 'every event has reached those it was sent to',
    sql: arrivals(),
  },
  {
    name: 'I8',
    meaning: 'the event sequence of every account has no gap',
    alone: true,
    sql: `
      select a.account_id || ' has ' || count(e.*) || ' events between sequence ' || min(e.sequence) || ' and ' ||
        max(e.sequence) || ', the last given out is ' || a.last_sequence as what
      from webhooks.accounts a left join webhooks.events e on e.account_id = a.account_id
      group by a.account_id, a.last_sequence
      having count(e.*) <> max(e.sequence) - min(e.sequence) + 1 or max(e.sequence) <> a.last_sequence`,
  },
];

/** For each service, the rows of the others' outboxes that should be in its inbox and are not. */
function arrivals(): string {
  const questions: string[] = [];
  for (const sender of services) {
    for (const receiver of services) {
      const kinds = Object.entries(events)
        .filter(([, event]) => event.from === sender && (event.to as readonly Service[]).includes(receiver))
        .map(([kind]) => `'${kind}'`);
      if (kinds.length === 0) continue;
      questions.push(`
        select '${sender} sent ' || o.kind || ' ' || o.id || ', ${receiver} does not have it' as what
        from ${sender}.outbox o
        where o.kind in (${kinds.join(', ')}) and o.created_at < now() - $1::int * interval '1 second'
          and not exists (select 1 from ${receiver}.inbox i where i.event_id = o.id)`);
    }
  }
  return questions.join('\nunion all');
}
