-- Deposits that the chain took back. A row may be here before its deposit is booked, when the bus brought
-- the two in the wrong order: it is booked as soon as the deposit is.
create table reversals (
  deposit_id text collate "C" primary key,
  account_id text not null,
  asset text not null,
  amount numeric(78, 0) not null constraint reversals_amount_positive check (amount > 0),
  created_at timestamptz not null default now(),
  booked_at timestamptz
);
create index reversals_waiting on reversals (created_at) where booked_at is null;
