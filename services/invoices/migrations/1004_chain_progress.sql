-- How far each chain was followed.
create table cursors (
  chain text collate "C" primary key,
  height int not null,
  hash text not null,
  -- the block's own time
  time timestamptz not null,
  -- every payment made until then has been seen
  known_until timestamptz not null,
  -- when the node's head was last reached
  caught_up_at timestamptz,
  -- the height at which every balance whose turn it was has been looked at
  balances_height int
);

-- The last blocks, to find where the chain parted after a reorganisation.
create table blocks (
  chain text collate "C" not null,
  height int not null,
  hash text not null,
  time timestamptz not null,
  primary key (chain, height)
);

-- Native money that left our addresses (sweeps and their fees), so that what a balance should be is known.
create table spends (
  chain text collate "C" not null,
  tx_hash text not null,
  address text collate "C" not null,
  amount numeric(78, 0) not null,
  block_height int not null,
  constraint spends_once primary key (chain, address, tx_hash)
);
create index spends_by_block on spends (chain, block_height);
