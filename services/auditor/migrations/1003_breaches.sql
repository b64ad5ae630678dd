-- What is wrong in the books, as long as it is: one row however often it is seen.
create table breaches (
  invariant text not null,
  -- names it, and stays the same while money moves on around it
  subject text not null,
  -- null: of no asset in particular
  asset text,
  what text not null,
  -- the chain whose node showed it; null when the books alone do
  chain text,
  -- it may be money lost: payouts wait for an operator
  halts boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  times int not null default 1 constraint breaches_times_positive check (times > 0),
  -- an operator knows of it and lets payouts go on all the same
  accepted_at timestamptz,
  -- up to so much, where it can grow
  accepted_amount numeric,
  primary key (invariant, subject)
);
