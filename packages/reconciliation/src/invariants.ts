import { type EventKind, events, type Service, services } from '@quittance/shared/events';

/**
 * One thing that must be true of the books, as the query that finds what breaks it. Each row it returns is a breach:
 * `what` says it in words, `asset` is the one whose books it spoils (null: of none in particular), `subject` names it
 * and stays the same while money moves on around it or the breach grows; `amount`, where there is one, is by how much
 * the books are off. `$1` is the patience in seconds, where a question has one: what is
 * younger may still be on its way.
 *
 * All of them are asked in one snapshot of one database. What a service has announced and its receiver has not taken in
 * yet is known there too (see `onTheWay`), so that most of them need no patience: money in motion is no breach, however
 * long the bus is away.
 */
export type Invariant = {
  name: string;
  meaning: string;
  /** It looks at one service's tables only, so it holds whether or not the others are there. */
  alone?: true;
  /** What breaks it may be money lost. Else something is merely late, or of no matter for money. */
  halts: boolean;
  sql: string;
  /**
   * The same of what is newer than an earlier check, and of all that is still open: cheap, however
   * large the tables are. Without one it is asked in whole checks only.
   */
  recent?: (since: Marks) => string;
};

/** How far a check has seen everything. A mark is older than any transaction that may still be open. */
export type Marks = {
  /** ledger.transfers.seq */
  transfers: string;
  /** invoices.outbox.seq */
  deposits: string;
  /** payouts.transactions.id */
  transactions: string;
};

/** Where the auditor keeps what the entries up to a transfer come to. */
const SUMS = 'auditor.sums';
const SUMS_UNTIL = '(select transfer_seq from auditor.sums_until)';

const transfersBalance = (those: string) => `
  select 'transfer ' || transfer_seq || ' is off by ' || sum(amount)::text || ' ' || asset as what,
    asset, 'transfer ' || transfer_seq as subject, sum(amount) as amount
  from ledger.entries e where ${those} group by transfer_seq, asset having sum(amount) <> 0
  union all
  select 'transfer ' || seq || ' (' || op || ') has no entries', asset, 'transfer ' || seq || ' entries', null
  from ledger.transfers t
  where ${those.replace('transfer_seq', 'seq')}
    and not exists (select 1 from ledger.entries e where e.transfer_seq = t.seq)
  union all
  select distinct 'entries of transfer ' || transfer_seq || ', which does not exist', e.asset,
    'transfer ' || transfer_seq || ' missing', null::numeric
  from ledger.entries e
  where ${those} and not exists (select 1 from ledger.transfers t where t.seq = e.transfer_seq)
  union all
  select distinct 'transfer ' || t.seq || ' (' || t.op || ') has entries of another account or asset', e.asset,
    'transfer ' || t.seq || ' other', null::numeric
  from ledger.entries e join ledger.transfers t on t.seq = e.transfer_seq
  where ${those} and (e.asset <> t.asset or e.account_id <> t.account_id)`;

const balancesAreTheirEntries = (entries: string) => `
  with booked as (
    select account_id, asset, bucket, sum(amount) as amount from (${entries}) as e
    group by account_id, asset, bucket),
  shown as (
    select account_id, asset, bucket, amount from ledger.balances,
    lateral (values ('available', available), ('held', held), ('unresolved', unresolved)) as b(bucket, amount))
  select account_id || ' ' || asset || ' ' || bucket || ' shows ' || coalesce(s.amount, 0)::text ||
    ', its entries say ' || coalesce(b.amount, 0)::text as what, asset,
    account_id || ' ' || asset || ' ' || bucket as subject, coalesce(s.amount, 0) - coalesce(b.amount, 0) as amount
  from shown s full join booked b using (account_id, asset, bucket)
  where coalesce(s.amount, 0) <> coalesce(b.amount, 0)`;

const merchantsEntries = `select account_id, asset, bucket, amount from ledger.entries where account_id is not null`;

const heldIsHeldFor = (placed: string) => `
  select account_id || ' ' || asset || ' is negative' as what, asset, account_id || ' ' || asset as subject,
    least(available, 0) + least(held, 0) + least(unresolved, 0) as amount
  from ledger.balances where available < 0 or held < 0 or unresolved < 0
  union all
  select account_id || ' ' || asset || ' holds ' || coalesce(b.held, 0)::text || ', its open holds sum to ' ||
    coalesce(h.held, 0)::text, asset,
    account_id || ' ' || asset || ' held', coalesce(b.held, 0) - coalesce(h.held, 0)
  from ledger.balances b
  full join (
    select account_id, asset, sum(amount + network_fee) as held from ledger.holds
    where state = 'placed' and ${placed} group by account_id, asset) h using (account_id, asset)
  where coalesce(b.held, 0) <> coalesce(h.held, 0)
  union all
  select account_id || ' ' || asset || ' has ' || coalesce(b.unresolved, 0)::text ||
    ' unresolved, its open deposits sum to ' || coalesce(u.open, 0)::text, asset,
    account_id || ' ' || asset || ' unresolved', coalesce(b.unresolved, 0) - coalesce(u.open, 0)
  from ledger.balances b
  full join (
    select account_id, asset, sum(amount) as open from ledger.unresolved
    where state = 'open' group by account_id, asset) u using (account_id, asset)
  where coalesce(b.unresolved, 0) <> coalesce(u.open, 0)`;

const unconfirmed = `(o.sent_at is null or (o.confirmed_at is null and o.sent_at is not null))`;

/** Events that are announced, and neither taken in nor parked by that receiver: what they will do is yet to come. */
export const onTheWay = (kind: EventKind, to: Service): string => `
  select o.payload from ${events[kind].from}.outbox o
  where o.kind = '${kind}' and ${unconfirmed}
    and not exists (select 1 from ${to}.inbox i where i.event_id = o.id)
    and not exists (select 1 from ${to}.parked i where i.event_id = o.id)`;

const isOnItsWay = (kind: EventKind, field: string, id: string) =>
  `exists (select 1 from (${onTheWay(kind, 'ledger')}) as w where w.payload ->> '${field}' = ${id})`;

/** Payouts that are not at their end, or whose end the ledger has not heard of. */
const openPayouts = `
  select id from payouts.payouts where status = 'requested'
  union select id from payouts.payouts where status = 'reserved'
  union select m.payout_id from payouts.transactions t join payouts.payments m on m.family = t.family
    where t.state in ('signed', 'broadcast')
  ${(['hold.settle', 'hold.release', 'hold.void'] as const)
    .map((kind) => `union select (payload ->> 'payout_id')::bigint from (${onTheWay(kind, 'ledger')}) as w`)
    .join('\n')}`;

/** Those, and what the ledger has booked since the marks. */
export const recentPayouts = ({ transfers }: Marks): string => `${openPayouts}
  union select substr(op, strpos(op, ':') + 1)::bigint from ledger.transfers
    where seq > ${transfers} and kind in ('hold', 'settle', 'release')`;

const payoutsAgree = (those: string, holds: string) => `
  with confirmed as (
    select m.payout_id, count(*) as n
    from payouts.payments m join payouts.transactions t on t.family = m.family
    where t.state = 'mined' and ${those.replaceAll('p.id', 'm.payout_id')} group by m.payout_id)
  select 'payout ' || p.id || ' is ' || p.status || ' with ' || coalesce(c.n, 0) || ' confirmed transactions' as what,
    p.asset, 'payout ' || p.id || ' transactions' as subject,
    coalesce(c.n, 0) - case p.status when 'mined' then 1 else 0 end as amount
  from payouts.payouts p left join confirmed c on c.payout_id = p.id
  where ${those}
    and ((p.status = 'mined' and coalesce(c.n, 0) <> 1) or (p.status <> 'mined' and coalesce(c.n, 0) > 0))
  union all
  select 'payout ' || p.id || ' and what is paid for it differ in address or amount', p.asset,
    'payout ' || p.id || ' payment', null
  from payouts.payouts p join payouts.payments m on m.payout_id = p.id
  where ${those} and (p.address, p.amount) is distinct from (m.address, m.amount)
  union all
  select distinct 'transaction ' || t.tx_hash || ' was signed for ' || t.amount::text || ', its payouts sum to ' ||
    (select coalesce(sum(o.amount), 0) from payouts.payments o where o.family = t.family)::text,
    t.asset, 'family ' || t.family,
    t.amount - (select coalesce(sum(o.amount), 0) from payouts.payments o where o.family = t.family)
  from payouts.transactions t join payouts.payments p on p.family = t.family
  where ${those.replaceAll('p.id', 'p.payout_id')} and t.purpose = 'payout'
    and t.amount <> (select coalesce(sum(o.amount), 0) from payouts.payments o where o.family = t.family)
  union all
  select 'payout ' || p.id || ' is ' || p.status || ', its hold is ' || coalesce(h.state, 'missing'), p.asset,
    'payout ' || p.id || ' hold', null
  from payouts.payouts p left join ledger.holds h on h.payout_id = p.id::text
  where ${those} and (
    (p.status in ('reserved', 'signed', 'broadcast') and h.state is distinct from 'placed')
    or (p.status = 'mined' and h.state is distinct from 'settled' and not ${isOnItsWay('hold.settle', 'payout_id', 'p.id::text')})
    or (p.status = 'failed' and h.state is distinct from 'released' and not ${isOnItsWay('hold.release', 'payout_id', 'p.id::text')})
    or (p.status = 'refused' and h.state in ('placed', 'settled'))
    or (p.status = 'voided' and h.state in ('placed', 'settled') and not ${isOnItsWay('hold.void', 'payout_id', 'p.id::text')}))
  union all
  select 'payout ' || p.id || ' and its hold differ in account, asset, amount or fee', p.asset,
    'payout ' || p.id || ' terms', null
  from payouts.payouts p join ledger.holds h on h.payout_id = p.id::text
  where ${those} and h.state <> 'voided' and
    (p.account_id, p.asset, p.amount, p.network_fee) is distinct from (h.account_id, h.asset, h.amount, h.network_fee)
  union all
  select 'a hold of ' || h.amount::text || ' ' || h.asset || ' for payout ' || h.payout_id || ', which does not exist',
    h.asset, 'payout ' || h.payout_id || ' missing', null::numeric
  from ledger.holds h
  where ${holds} and h.state in ('placed', 'settled')
    and not exists (select 1 from payouts.payouts p where p.id::text = h.payout_id)`;

const depositsAgree = (those: string, transfers: string) => `
  select 'deposit ' || d.id || ' settled at ' || d.settled_at || ' is not in the ledger' as what, d.asset,
    'deposit ' || d.id || ' credit' as subject, null::numeric as amount
  from invoices.deposits d
  where ${those} and d.settled_at is not null
    and not exists (select 1 from ledger.transfers t where t.op = 'deposit:' || d.id)
    and not ${isOnItsWay('deposit.settled', 'deposit_id', 'd.id')}
  union all
  select t.op || ' is in the ledger, no settled deposit of that account, asset and amount is behind it', t.asset, t.op, null
  from ledger.transfers t
  where ${transfers} and t.kind = 'deposit' and not exists (
    select 1 from invoices.deposits d join invoices.invoices i on i.id = d.invoice_id
    where d.id = substr(t.op, length('deposit:') + 1) and d.settled_at is not null
      and (i.account_id, d.asset) = (t.account_id, t.asset)
      and d.amount = (select sum(e.amount) from ledger.entries e
                      where e.transfer_seq = t.seq and e.bucket in ('available', 'unresolved')))
  union all
  select 'outpoint ' || d.chain || ' ' || d.outpoint || ' is credited ' || count(*) || ' times', d.asset,
    'outpoint ' || d.chain || ' ' || d.outpoint, count(*) - 1
  from invoices.deposits d
  join ledger.transfers t on t.op = 'deposit:' || d.id
  where d.state <> 'reversed' and not exists (select 1 from ledger.transfers r where r.op = 'reversal:' || d.id)
    and (d.chain, d.outpoint) in (select d.chain, d.outpoint from invoices.deposits d where ${those})
  group by d.chain, d.outpoint, d.asset having count(*) > 1
  union all
  select 'deposit ' || d.id || ' was taken back by its chain at ' || d.reversed_at || ', its credit stands', d.asset,
    'deposit ' || d.id || ' reversal', null
  from invoices.deposits d join ledger.transfers t on t.op = 'deposit:' || d.id
  where ${those} and d.state = 'reversed'
    and not exists (select 1 from ledger.transfers r where r.op = 'reversal:' || d.id)
    and not exists (select 1 from ledger.reversals r where r.deposit_id = d.id and r.booked_at is null)
    and not ${isOnItsWay('deposit.reversed', 'deposit_id', 'd.id')}
  union all
  select t.op || ' is in the ledger, no reversed deposit is behind it', t.asset, t.op, null
  from ledger.transfers t
  where ${transfers} and t.kind = 'reversal' and not exists (
    select 1 from invoices.deposits d
    where d.id = substr(t.op, length('reversal:') + 1) and d.state = 'reversed')`;

/** Deposits that were announced, booked or taken back since the marks. */
export const recentDeposits = ({ transfers, deposits }: Marks): string => `
  select o.payload ->> 'deposit_id' from invoices.outbox o
    where o.seq > ${deposits} and o.kind in ('deposit.settled', 'deposit.reversed')
  union select w.payload ->> 'deposit_id' from (${onTheWay('deposit.settled', 'ledger')}) as w
  union select w.payload ->> 'deposit_id' from (${onTheWay('deposit.reversed', 'ledger')}) as w
  union select substr(op, strpos(op, ':') + 1) from ledger.transfers
    where seq > ${transfers} and kind in ('deposit', 'reversal')`;

/** For each service, the rows of the others' outboxes that should be in its inbox and are not. */
function arrivals(those: string): string {
  const questions: string[] = [];
  for (const sender of services) {
    for (const receiver of services) {
      const kinds = Object.entries(events)
        .filter(([, event]) => event.from === sender && (event.to as readonly Service[]).includes(receiver))
        .map(([kind]) => `'${kind}'`);
      if (kinds.length === 0) continue;
      questions.push(`
        select '${sender} sent ' || o.kind || ' ' || o.id || ', ${receiver} ' || case
          when exists (select 1 from ${receiver}.parked k where k.event_id = o.id) then 'has parked it'
          else 'does not have it' end as what,
          o.payload ->> 'asset' as asset, o.id || ' ${receiver}' as subject
        from ${sender}.outbox o
        where ${those} and o.kind in (${kinds.join(', ')}) and o.created_at < now() - $1::int * interval '1 second'
          and not exists (select 1 from ${receiver}.inbox i where i.event_id = o.id)`);
    }
  }
  return questions.join('\nunion all');
}

/** What may pass through, and may not stay: money set aside for a payout, a coin, a deposit on its way. */
const drained = `
  select 'deposit ' || u.deposit_id || ' is being returned by payout ' || u.payout_id || ', whose hold is ' ||
    coalesce(h.state, 'missing') as what, u.asset, 'return ' || u.deposit_id as subject
  from ledger.unresolved u left join ledger.holds h on h.payout_id = u.payout_id
  where u.state = 'returning' and h.state is distinct from 'placed'
  union all
  select 'deposit ' || h.deposit_id || ' is being swept by family ' || h.sweep_id || ', of which nothing is open', h.asset,
    'sweep ' || h.deposit_id
  from payouts.holdings h
  where h.state = 'sweeping' and h.reversed_at is null and not exists (
    select 1 from payouts.transactions t where t.family = h.sweep_id and t.state in ('signed', 'broadcast'))
  union all
  select 'coin ' || c.outpoint || ' is locked by family ' || c.locked_by || ', of which nothing is open', 'BTC',
    'coin ' || c.outpoint
  from payouts.coins c
  where c.state = 'locked' and c.reversed_at is null and not exists (
    select 1 from payouts.transactions t where t.family = c.locked_by and t.state in ('signed', 'broadcast'))`;

/** Losses that may still be made up for are part of those that were booked. */
const lossesAreBooked = `
  select l.asset || ' has losses of ' || l.amount_left::text || ' left, ' || coalesce(b.lost, 0)::text ||
    ' are booked' as what, l.asset, 'losses ' || l.asset as subject, l.amount_left - coalesce(b.lost, 0) as amount
  from (select asset, sum(amount_left) as amount_left from ledger.losses group by asset) l
  left join (select asset, -sum(amount) as lost from ledger.entries where bucket = 'loss' group by asset) b using (asset)
  where l.amount_left > coalesce(b.lost, 0)`;

/** What a worker does within seconds, and has not done in ten times the patience. */
const forgotten = `
  select 'payout ' || p.id || ' was asked for at ' || p.created_at || ' and never decided' as what, p.asset,
    'payout ' || p.id || ' undecided' as subject
  from payouts.payouts p
  where p.status = 'requested' and p.created_at < now() - $1::int * interval '10 seconds'
  union all
  select 'deposit ' || r.deposit_id || ' was taken back by its chain, its reversal is not booked', r.asset,
    'deposit ' || r.deposit_id || ' waiting'
  from ledger.reversals r join ledger.transfers t on t.op = 'deposit:' || r.deposit_id
  where r.booked_at is null and greatest(r.created_at, t.created_at) < now() - $1::int * interval '10 seconds'`;

/** From the oldest that is kept to the last one given out. */
const sequencesHaveNoGap = `
  select a.account_id || ' has ' || count(e.sequence) || ' events between sequence ' || coalesce(min(e.sequence), 0) ||
    ' and ' || coalesce(max(e.sequence), 0) || ', the last given out is ' || a.last_sequence ||
    case when a.forgotten > 0 then ', the last forgotten is ' || a.forgotten else '' end as what,
    null::text as asset, a.account_id as subject
  from webhooks.accounts a left join webhooks.events e on e.account_id = a.account_id
  group by a.account_id, a.last_sequence, a.forgotten
  having count(e.sequence) <> a.last_sequence - a.forgotten
    or coalesce(min(e.sequence), a.forgotten + 1) <> a.forgotten + 1
    or coalesce(max(e.sequence), a.forgotten) <> a.last_sequence`;

/** An endpoint that is being registered, or changed, does not yet hear what happens in that very moment. */
const REGISTERED_WITHIN = `interval '1 minute'`;

const deliveriesAreScheduled = (waiting: string) => `
  ${waiting}
  select 'the delivery of ' || d.sequence || ' to endpoint ' || d.endpoint_key || ' waits, and nobody will send it' as what,
    null::text as asset, d.endpoint_key || '/' || d.sequence as subject
  from webhooks.deliveries d left join webhooks.endpoint_queues q on q.endpoint_key = d.endpoint_key
  where d.state = 'waiting' and (
    -- Disabled or deleted: its deliveries are being cancelled.
    (q.endpoint_key is null and not exists (
      select 1 from webhooks.endpoints p where p.key = d.endpoint_key and p.cancelling))
    -- The attempt that ends next sets both times.
    or (q.endpoint_key is not null and coalesce(case when d.retry then q.retry_due_at else q.new_due_at end, 'infinity') >
        greatest(d.due_at, now(), q.open_until) + $1::int * interval '1 second'
      and not exists (
        select 1 from webhooks.deliveries s where s.endpoint_key = d.endpoint_key and s.state = 'sending')))
  union all
  select 'the delivery of ' || d.sequence || ' to endpoint ' || d.endpoint_key || ' was claimed until ' || d.claimed_until ||
    ', and nobody has taken it back', null::text, d.endpoint_key || '/' || d.sequence
  from webhooks.deliveries d
  where d.state = 'sending' and d.claimed_until < now() - (60 + $1::int) * interval '1 second'`;

const deliveriesAreThere = `
  select 'event ' || e.sequence || ' of ' || e.account_id || ' has no delivery to endpoint ' || p.key as what,
    null::text as asset, p.key || '/' || e.sequence as subject
  from webhooks.endpoints p
  -- a test is for one endpoint, whatever the others want
  join webhooks.events e on e.account_id = p.account_id and e.kind = any(p.kinds) and e.kind <> 'webhook.test'
    and e.created_at > coalesce(p.told_since, p.created_at) + ${REGISTERED_WITHIN}
  where p.enabled and p.deleted_at is null and not exists (
    select 1 from webhooks.deliveries d where d.endpoint_key = p.key and d.sequence = e.sequence)
  union all`;

export const invariants: readonly Invariant[] = [
  {
    name: 'I1',
    meaning: 'the entries of every transfer sum to zero, per asset',
    alone: true,
    halts: true,
    sql: transfersBalance('true'),
    recent: ({ transfers }) => transfersBalance(`transfer_seq > ${transfers}`),
  },
  {
    name: 'I2',
    meaning: 'every balance equals the sum of its entries',
    alone: true,
    halts: true,
    sql: balancesAreTheirEntries(merchantsEntries),
    recent: () =>
      balancesAreTheirEntries(
        `select account_id, asset, bucket, amount from ${SUMS}
         union all ${merchantsEntries} and transfer_seq > ${SUMS_UNTIL}`,
      ),
  },
  {
    name: 'I3',
    meaning:
      'nothing is negative, what is held is the sum of the open holds, what is unresolved that of the open deposits',
    alone: true,
    halts: true,
    sql: heldIsHeldFor('true'),
    recent: () => heldIsHeldFor(`payout_id in (select id::text from (${openPayouts}) as open)`),
  },
  {
    name: 'I4',
    meaning: 'a payout has one confirmed transaction when mined, none when failed, and a hold that agrees',
    halts: true,
    sql: payoutsAgree('true', 'true'),
    recent: (since) =>
      payoutsAgree(
        `p.id in (${recentPayouts(since)})`,
        `h.payout_id in (select id::text from (${recentPayouts(since)}) as recent)`,
      ),
  },
  {
    name: 'I5',
    meaning: 'every deposit that is final and ours is credited exactly once, nothing else is credited',
    halts: true,
    sql: depositsAgree('true', 'true'),
    recent: (since) => depositsAgree(`d.id in (${recentDeposits(since)})`, `t.seq > ${since.transfers}`),
  },
  {
    name: 'I7',
    meaning: 'every event has reached those it was sent to',
    halts: false,
    sql: arrivals('true'),
    recent: () => arrivals(unconfirmed),
  },
  {
    name: 'I8',
    meaning: 'the event sequence of every account has no gap',
    alone: true,
    halts: false,
    sql: sequencesHaveNoGap,
  },
  {
    name: 'I8',
    meaning: 'every event is delivered to each endpoint that wants it, scheduled, exhausted or cancelled',
    halts: false,
    sql: deliveriesAreScheduled(deliveriesAreThere),
    recent: () => deliveriesAreScheduled(''),
  },
  {
    name: 'I10',
    meaning: 'what only passes through is gone when its errand has ended',
    halts: true,
    sql: drained,
    recent: () => drained,
  },
  {
    name: 'I10',
    meaning: 'losses that are still to be made up for were booked',
    alone: true,
    halts: true,
    sql: lossesAreBooked,
  },
  {
    name: 'I10',
    meaning: 'whatever is begun comes to an end',
    halts: false,
    sql: forgotten,
    recent: () => forgotten,
  },
];
