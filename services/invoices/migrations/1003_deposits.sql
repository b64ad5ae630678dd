-- Money that arrived on an address of ours.
create table deposits (
  id text collate "C" primary key,
  chain text collate "C" not null,
  -- names the payment on its chain, however often its transaction is mined again
  outpoint text collate "C" not null,
  invoice_id text collate "C" not null,
  asset text not null,
  address text not null,
  derivation_index int not null,
  amount numeric(78, 0) not null constraint deposits_amount_positive check (amount > 0),
  tx_hash text,
  output_index int not null,
  -- the block it is in, or was in when it was last seen
  block_height int not null,
  block_hash text not null,
  first_seen_at timestamptz not null,
  -- final so many blocks deep, its own block counted
  min_confirmations int not null,
  state text not null
    constraint deposits_state_known check (state in ('seen', 'settled', 'dropped', 'missing', 'reversed')),
  -- the chain's height when its block was dropped
  dropped_height int,
  -- the height at which it needs to be looked at next, null: none
  due_height int,
  confirmed_at timestamptz,
  settled_at timestamptz,
  disposition text constraint deposits_disposition_known check (disposition in ('credit', 'unresolved')),
  -- when the ledger said that it has booked it
  credited_at timestamptz,
  reversed_at timestamptz,
  constraint deposits_settled_with_disposition check ((settled_at is null) = (disposition is null)),
  constraint deposits_settled_when_settled
    check ((state in ('settled', 'missing', 'reversed')) = (settled_at is not null)),
  constraint deposits_dropped_height_when_away
    check ((state in ('dropped', 'missing')) = (dropped_height is not null))
);
-- A payment is in the chain once. What was dropped or reversed may come again as another deposit.
create unique index deposits_outpoint_once on deposits (chain, outpoint) where state in ('seen', 'settled');
create index deposits_away on deposits (chain, outpoint) where state not in ('seen', 'settled');
create index deposits_of_invoice on deposits (invoice_id);
create index deposits_by_block on deposits (chain, block_height);
create index deposits_due on deposits (chain, due_height) where due_height is not null;
