-- Money that lies on our deposit addresses, deposit by deposit, and what was moved to the hot wallet.
-- Whose it is, is the ledger's business.
create table holdings (
  deposit_id text primary key,
  chain text not null,
  address text not null,
  derivation_index bigint not null,
  asset text not null,
  amount numeric(78, 0) not null constraint holdings_amount_positive check (amount > 0),
  state text not null default 'held' constraint holdings_state_known check (
    state in ('held', 'sweeping', 'swept')),
  sweep_id bigint references transactions (id),
  -- its block was dropped and it did not come back: nothing is there to sweep
  reversed_at timestamptz,
  -- a sweep of it failed: not again before this time
  retry_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint holdings_sweep_is_named check ((state = 'held') = (sweep_id is null))
);
create index holdings_to_sweep on holdings (chain, asset, amount desc) where state = 'held' and reversed_at is null;
create index holdings_by_address on holdings (chain, address, asset) where state = 'held';
create index holdings_of_sweep on holdings (sweep_id) where sweep_id is not null;
