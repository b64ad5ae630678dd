import { isOnItsWay } from './events-on-the-way.ts';
import type { Invariant } from './invariant.ts';
import { recentDeposits } from './recent-records.ts';

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

export const depositInvariants: readonly Invariant[] = [
  {
    number: 'I5',
    name: 'deposit-credited-once',
    meaning: 'every deposit that is final and ours is credited exactly once, nothing else is credited',
    pausesPayouts: true,
    sql: depositsAgree('true', 'true'),
    recent: (since) => depositsAgree(`d.id in (${recentDeposits(since)})`, `t.seq > ${since.transfers}`),
  },
];
