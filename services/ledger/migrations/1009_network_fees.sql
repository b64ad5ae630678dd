-- The network fee follows the chain: what a usual payout costs there times a margin, within limits. `network_fee`
-- is the last one, and at first the one below, until payouts has told of an estimate.
alter table assets
  -- of the estimate, which is of one transaction: the margin pays for the sweep that may have to come first and for
  -- fees that rise before the payout is mined
  add column fee_margin_percent int not null default 200
    constraint assets_fee_margin_covers_the_cost check (fee_margin_percent >= 100),
  -- an estimate near zero (an empty chain) would make payouts free, and a flood of them too
  add column fee_floor numeric(78, 0) not null default 0
    constraint assets_fee_floor_not_negative check (fee_floor >= 0),
  -- a node that says nonsense, or is made to, must not empty a balance by fees
  add column fee_cap numeric(78, 0),
  -- MIN_CONFIRMATIONS, where an operator has set it
  add column min_confirmations_set int
    constraint assets_min_confirmations_set_positive check (min_confirmations_set > 0);

-- SOL: less than the rent-exempt minimum cannot open an account, so it could be paid to hardly anybody.
insert into assets (symbol, min_confirmations, network_fee, dust) values
  ('USDC_SOL', 1, 1000000, 10000),                             -- 1, 0.01
  ('ETH_BASE', 30, 20000000000000, 10000000000000),            -- 0.00002, 0.00001; 30 blocks are a minute
  ('USDC_BASE', 30, 100000, 10000),                            -- 0.1, 0.01
  ('POL', 128, 50000000000000000, 10000000000000000),          -- 0.05, 0.01; deeper than its known reorganisations
  ('USDC_POLYGON', 128, 50000, 10000);                         -- 0.05, 0.01
update assets set dust = 890880 where symbol = 'SOL';

-- Floors: about the least a chain ever takes for it. Caps: about the worst hour that the chain has had.
update assets a set fee_margin_percent = v.margin, fee_floor = v.floor, fee_cap = v.cap
from (values
  -- no sweeps; 250 vB at 2 sat/vB, and at 2,000
  ('BTC', 150, 500, 500000),
  -- 21,000 gas at 0.5 gwei, and at 1,000
  ('ETH', 200, 10000000000000, 20000000000000000),
  -- two signatures, and with high priority fees
  ('SOL', 200, 10000, 10000000),
  -- 65,000 gas: three times ETH's
  ('USDC_ERC20', 200, 50000, 100000000),
  -- two signatures, and with the recipient's token account opened at a high SOL rate
  ('USDC_SOL', 150, 10000, 5000000),
  ('ETH_BASE', 200, 1000000000000, 2000000000000000),
  ('USDC_BASE', 200, 10000, 10000000),
  -- 21,000 gas at 100 gwei, and at 50,000
  ('POL', 200, 2000000000000000, 1000000000000000000),
  ('USDC_POLYGON', 200, 10000, 5000000)
) as v (symbol, margin, floor, cap) where a.symbol = v.symbol;

alter table assets
  alter column fee_cap set not null,
  add constraint assets_fee_cap_above_floor check (fee_cap >= fee_floor and fee_cap > 0);
