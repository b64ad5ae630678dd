-- The last rate of each asset that its sources agreed on, however old: shown when they are away.
create table quotes (
  asset text primary key,
  -- US dollars for one whole asset
  usd_rate numeric(96, 18) not null constraint quotes_usd_rate_positive check (usd_rate > 0),
  spread_bps int not null,
  -- each source's own rate and when it was read
  sources jsonb not null,
  as_of timestamptz not null
);
