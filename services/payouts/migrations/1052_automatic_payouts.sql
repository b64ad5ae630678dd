-- A merchant's rules: pay all that the balance of an asset has, at most once a day or whenever it is enough.
create table automatic_payouts (
  account_id text not null,
  asset text not null,
  -- canonical
  address text not null,
  schedule text not null constraint automatic_payouts_schedule_known check (schedule in ('daily', 'threshold')),
  -- the least amount that is worth a payout, without the network fee
  threshold numeric(78, 0) constraint automatic_payouts_threshold_positive check (threshold > 0),
  enabled boolean not null,
  -- Milliseconds, because a run compares it with what it has read.
  next_run_at timestamptz(3) not null,
  last_run_at timestamptz(3),
  last_payout_id bigint,
  last_error text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint automatic_payouts_once primary key (account_id, asset),
  constraint automatic_payouts_threshold_is_given check (schedule <> 'threshold' or threshold is not null)
);
create index automatic_payouts_due on automatic_payouts (next_run_at) where enabled;

alter table payouts add column automatic boolean not null default false;
