-- Deposits that went to no balance (late, too little, of another asset) and what became of each. Changed only
-- while its balance's row is locked, so that the two always agree: balances.unresolved is the sum of the open ones.
create table unresolved (
  deposit_id text collate "C" primary key,
  account_id text collate "C" not null,
  asset text collate "C" not null,
  -- what is left of it: a return that the chain charged for and did not carry out keeps its fee
  amount numeric(78, 0) not null constraint unresolved_amount_positive check (amount > 0),
  -- where it came from; not known of deposits that are older than this table
  invoice_id text,
  address text,
  tx_hash text,
  state text not null default 'open'
    constraint unresolved_state_known check (state in ('open', 'accepted', 'returning', 'returned', 'reversed')),
  -- the payout that pays it back
  payout_id text,
  created_at timestamptz not null default now(),
  resolved_at timestamptz,
  constraint unresolved_payout_known check (payout_id is not null or state not in ('returning', 'returned'))
) with (fillfactor = 85);
create index unresolved_of_account on unresolved (account_id, created_at desc, deposit_id desc);

insert into unresolved (deposit_id, account_id, asset, amount, state, created_at, resolved_at)
select substr(t.op, length('deposit:') + 1), t.account_id, t.asset, t.amount,
  case when r.booked_at is null then 'open' else 'reversed' end, t.created_at, r.booked_at
from transfers t left join reversals r on 'deposit:' || r.deposit_id = t.op
where t.kind = 'deposit' and t.detail = 'unresolved';

-- The deposit whose money a hold took; null when the balance paid.
alter table holds add column deposit_id text collate "C";
