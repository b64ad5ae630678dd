-- What an operator decides about each asset; its unchanging facts (name, chain, decimals) are code.
-- Amounts are in the asset's smallest unit.
create table assets (
  symbol text primary key,
  -- merchants may use it; set from ASSETS_ACTIVE when the service starts
  active boolean not null default false,
  min_confirmations int not null constraint assets_min_confirmations_positive check (min_confirmations > 0),
  -- what a payout costs the merchant beside its amount
  network_fee numeric(78, 0) not null constraint assets_network_fee_not_negative check (network_fee >= 0),
  -- less than this is neither credited by itself nor paid out
  dust numeric(78, 0) not null constraint assets_dust_not_negative check (dust >= 0)
);

insert into assets (symbol, min_confirmations, network_fee, dust) values
  ('BTC', 2, 20000, 1000),                              -- 0.0002, 0.00001
  ('ETH', 12, 500000000000000, 10000000000000),         -- 0.0005, 0.00001
  ('SOL', 1, 1000000, 100000),                          -- 0.001, 0.0001
  ('USDC_ERC20', 12, 1000000, 10000);                   -- 1, 0.01
