-- What currencies were worth, about once an hour: movements of balances are shown in them at the rate of their time.
create table currency_rates (
  currency text collate "C" not null,
  as_of timestamptz not null,
  usd_rate numeric(96, 18) not null constraint currency_rates_positive check (usd_rate > 0),
  primary key (currency, as_of)
);

-- What a currency was worth stays.
revoke update, delete on currency_rates from quittance_ledger;
