import type { Invariant } from './invariant.ts';
import { openPayouts } from './recent-records.ts';

/** Where the auditor keeps the sums of the entries up to a transfer. */
const SNAPSHOTS = 'auditor.balance_snapshots';
const SNAPSHOTS_UNTIL = '(select transfer_seq from auditor.balance_snapshots_until)';

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

const returnsWithinDeposits = (those: string) => `
  with returned as (
    select h.deposit_id, min(h.asset) as asset, sum(h.amount + h.network_fee) as total
    from ledger.holds h
    where h.state in ('placed', 'settled')
      and h.deposit_id in (select deposit_id from ledger.holds where deposit_id is not null and ${those})
    group by h.deposit_id)
  select 'the returns of deposit ' || r.deposit_id || ' take ' || r.total::text || ', and ' ||
    coalesce(t.amount, 0)::text || ' arrived' as what, r.asset, 'deposit ' || r.deposit_id || ' returns' as subject,
    r.total - coalesce(t.amount, 0) as amount
  from returned r left join ledger.transfers t on t.op = 'deposit:' || r.deposit_id
  where r.total > coalesce(t.amount, 0)
  union all
  select 'deposit ' || u.deposit_id || ' shows ' || u.returning_amount::text || ' and ' || u.returned_amount::text ||
    ' as parts that are returning and returned, its holds say ' || p.placed::text || ' and ' || p.settled::text, u.asset,
    'deposit ' || u.deposit_id || ' parts', u.returning_amount + u.returned_amount - p.placed - p.settled
  from ledger.unresolved u cross join lateral (
    select coalesce(sum(h.amount + h.network_fee) filter (where h.state = 'placed'), 0) as placed,
      coalesce(sum(h.amount + h.network_fee) filter (where h.state = 'settled'), 0) as settled
    from ledger.holds h where h.deposit_id = u.deposit_id and h.payout_id is distinct from u.payout_id) p
  where u.deposit_id in (select deposit_id from ledger.holds where deposit_id is not null and ${those})
    and (u.returning_amount, u.returned_amount) <> (p.placed, p.settled)`;

/** Write-offs that may still be recovered are part of those that were booked. */
const writeOffsAreBooked = `
  select l.asset || ' has write-offs of ' || l.amount_left::text || ' left, ' || coalesce(b.lost, 0)::text ||
    ' are booked' as what, l.asset, 'write-offs ' || l.asset as subject, l.amount_left - coalesce(b.lost, 0) as amount
  from (select asset, sum(amount_left) as amount_left from ledger.write_offs group by asset) l
  left join (select asset, -sum(amount) as lost from ledger.entries where bucket = 'loss' group by asset) b using (asset)
  where l.amount_left > coalesce(b.lost, 0)`;

export const ledgerInvariants: readonly Invariant[] = [
  {
    number: 'I1',
    name: 'transfers-sum-to-zero',
    meaning: 'the entries of every transfer sum to zero, per asset',
    alone: true,
    pausesPayouts: true,
    sql: transfersBalance('true'),
    recent: ({ transfers }) => transfersBalance(`transfer_seq > ${transfers}`),
  },
  {
    number: 'I2',
    name: 'balances-match-entries',
    meaning: 'every balance equals the sum of its entries',
    alone: true,
    pausesPayouts: true,
    sql: balancesAreTheirEntries(merchantsEntries),
    recent: () =>
      balancesAreTheirEntries(
        `select account_id, asset, bucket, amount from ${SNAPSHOTS}
         union all ${merchantsEntries} and transfer_seq > ${SNAPSHOTS_UNTIL}`,
      ),
  },
  {
    number: 'I3',
    name: 'held-matches-holds',
    meaning:
      'nothing is negative, what is held is the sum of the open holds, what is unresolved that of the open deposits',
    alone: true,
    pausesPayouts: true,
    sql: heldIsHeldFor('true'),
    recent: () => heldIsHeldFor(`payout_id in (select id::text from (${openPayouts}) as open)`),
  },
  {
    number: 'I3',
    name: 'returns-within-deposits',
    meaning:
      'the returns of an unresolved deposit take at most what arrived, and its parts are those of its holds',
    alone: true,
    pausesPayouts: true,
    sql: returnsWithinDeposits('true'),
    recent: () => returnsWithinDeposits(`payout_id in (select id::text from (${openPayouts}) as open)`),
  },
  {
    number: 'I10',
    name: 'write-offs-are-booked',
    meaning: 'write-offs that may still be recovered were booked',
    alone: true,
    pausesPayouts: true,
    sql: writeOffsAreBooked,
  },
];
