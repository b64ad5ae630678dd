import { isOnItsWay } from './events-on-the-way.ts';
import type { Invariant } from './invariant.ts';
import { recentPayouts, recentRefunds } from './recent-records.ts';

const payoutsAgree = (those: string, holds: string) => `
  with confirmed as (
    select m.payout_id, count(*) as n
    from payouts.payments m join payouts.transactions t on t.replacement_group = m.replacement_group
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
    (select coalesce(sum(o.amount), 0) from payouts.payments o where o.replacement_group = t.replacement_group)::text,
    t.asset, 'replacement group ' || t.replacement_group,
    t.amount - (select coalesce(sum(o.amount), 0) from payouts.payments o where o.replacement_group = t.replacement_group)
  from payouts.transactions t join payouts.payments p on p.replacement_group = t.replacement_group
  where ${those.replaceAll('p.id', 'p.payout_id')} and t.purpose = 'payout'
    and t.amount <> (select coalesce(sum(o.amount), 0) from payouts.payments o where o.replacement_group = t.replacement_group)
  union all
  select 'payout ' || p.id || ' is ' || p.status || ', its hold is ' || coalesce(h.state, 'missing'), p.asset,
    'payout ' || p.id || ' hold', null
  from payouts.payouts p left join ledger.holds h on h.payout_id = p.id::text
  where ${those} and (
    (p.status in ('awaiting_approval', 'reserved', 'planned', 'signed', 'broadcast') and h.state is distinct from 'placed')
    or (p.status = 'mined' and h.state is distinct from 'settled' and not ${isOnItsWay('hold.settle', 'payout_id', 'p.id::text')})
    or (p.status = 'failed' and h.state is distinct from 'released' and not ${isOnItsWay('hold.release', 'payout_id', 'p.id::text')})
    or (p.status = 'refused' and h.state in ('placed', 'settled'))
    or (p.status = 'voided' and h.state in ('placed', 'settled') and not ${isOnItsWay('hold.void', 'payout_id', 'p.id::text')}))
  union all
  select 'payout ' || p.id || ' and its hold differ in account, asset, amount or fee', p.asset,
    'payout ' || p.id || ' terms', null
  from payouts.payouts p join ledger.holds h on h.payout_id = p.id::text
  where ${those} and h.state <> 'voided' and not (p.takes_all and p.status in ('requested', 'voided')) and
    (p.account_id, p.asset, p.amount, p.network_fee) is distinct from (h.account_id, h.asset, h.amount, h.network_fee)
  union all
  select 'a hold of ' || h.amount::text || ' ' || h.asset || ' for payout ' || h.payout_id || ', which does not exist',
    h.asset, 'payout ' || h.payout_id || ' missing', null::numeric
  from ledger.holds h
  where ${holds} and h.state in ('placed', 'settled')
    and not exists (select 1 from payouts.payouts p where p.id::text = h.payout_id)`;

const approvalsAgree = (those: string) => `
  select 'payout ' || p.id || ' is ' || p.status || ' with ' || given.n || ' of ' || p.approvals_needed || ' approvals' as what,
    p.asset, 'payout ' || p.id || ' approvals' as subject
  from payouts.payouts p cross join lateral (
    select count(distinct one ->> 'token') as n from json_array_elements(p.approvals) as one
    where one ->> 'decision' = 'approved' and one ->> 'token' is distinct from p.made_by) as given
  where ${those} and p.approvals_needed > given.n and p.status in ('reserved', 'planned', 'signed', 'broadcast', 'mined')`;

// What is refunded was in the balance then: credited to a paid invoice, or accepted. A reversal takes it back, and while the
// same payment is mined again and not final it is neither paid nor reversed: the limit is what was ever credited or accepted,
// each payment once.
const refundsAgree = (those: string) => `
  with refunded as (
    select r.invoice_id, min(r.asset) as asset, sum(r.share) as share
    from payouts.refunds r
    where r.invoice_id is not null and r.state in ('claimable', 'pending', 'completed')
      and r.invoice_id in (select r.invoice_id from payouts.refunds r where ${those})
    group by r.invoice_id),
  compared as (
    select r.*, greatest(case when i.status = 'paid' then i.paid_amount end, final.amount) as was_paid
    from refunded r left join invoices.invoices i on i.id = r.invoice_id
    cross join lateral (
      select coalesce(sum(once.amount), 0) as amount from (
        select case when bool_or(d.disposition = 'credit') then max(d.amount)
          else least(max(d.amount), sum(accepted.amount)) end as amount
        from invoices.deposits d cross join lateral (
          select coalesce(sum(t.amount), 0) as amount from ledger.transfers t
          where t.op = 'accept:' || d.id or (t.kind = 'release' and t.op in (
            select 'release:' || h.payout_id from ledger.holds h where h.deposit_id = d.id))) as accepted
        where d.invoice_id = i.id and d.asset = i.asset
        group by d.outpoint) as once) as final)
  select 'the refunds of invoice ' || invoice_id || ' take ' || share::text || ', and ' || was_paid::text || ' was paid' as what,
    asset, 'invoice ' || invoice_id || ' refunds' as subject, share - was_paid as amount
  from compared where share > was_paid
  union all
  select 'refund ' || p.refund_id || ' has ' || count(*)::text || ' payouts that have not failed', min(p.asset),
    'refund ' || p.refund_id || ' payouts', null::numeric
  from payouts.payouts p
  where ${those.replaceAll('r.id', 'p.refund_id')} and p.refund_id is not null and p.status not in ('failed', 'refused', 'voided')
  group by p.refund_id having count(*) > 1
  union all
  select 'refund ' || r.id || ' is completed, and payout ' || r.payout_id || ' is ' || coalesce(p.status, 'missing'), r.asset,
    'refund ' || r.id || ' payout', null::numeric
  from payouts.refunds r left join payouts.payouts p on p.id = r.payout_id and p.refund_id = r.id
  where ${those} and r.state = 'completed' and p.status is distinct from 'mined'`;

export const payoutInvariants: readonly Invariant[] = [
  {
    number: 'I4',
    name: 'payout-matches-hold',
    meaning: 'a payout has one confirmed transaction when mined, none when failed, and a hold that agrees',
    pausesPayouts: true,
    sql: payoutsAgree('true', 'true'),
    recent: (since) =>
      payoutsAgree(
        `p.id in (${recentPayouts(since)})`,
        `h.payout_id in (select id::text from (${recentPayouts(since)}) as recent)`,
      ),
  },
  {
    number: 'I4',
    name: 'payouts-are-approved',
    meaning: 'a payout that needs approvals is paid with those of as many other tokens',
    pausesPayouts: true,
    sql: approvalsAgree('true'),
    recent: (since) => approvalsAgree(`p.id in (${recentPayouts(since)})`),
  },
  {
    number: 'I4',
    name: 'refunds-within-payment',
    meaning: 'the refunds of an invoice take at most what was paid, and each is paid by at most one payout',
    pausesPayouts: true,
    sql: refundsAgree('true'),
    recent: (since) => refundsAgree(`r.id in (${recentRefunds(since)})`),
  },
];
