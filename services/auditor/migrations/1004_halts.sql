-- When payouts of an asset were stopped, why, and when an operator let them go on. The number tells payouts which of two
-- messages is the later one.
create table halts (
  seq bigint generated always as identity primary key,
  asset text not null,
  breaches jsonb not null,
  halted_at timestamptz not null default now(),
  resumed_at timestamptz,
  -- when payouts was told last: it is told again until it does as it was told
  announced_at timestamptz not null default now(),
  -- lifted although a breach was still there
  forced boolean not null default false,
  constraint halts_forced_when_resumed check (not forced or resumed_at is not null)
);
create unique index halts_one_of_an_asset on halts (asset) where resumed_at is null;
