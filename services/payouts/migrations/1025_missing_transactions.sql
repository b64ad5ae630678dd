-- A transaction that had ended and is not in the chain any more: a reorganisation went deeper than was waited for. Its
-- bytes are sent again until it is back. On EVM chains nothing later of its wallet can be mined before it.
alter table transactions add column missing_since timestamptz;
create index transactions_missing on transactions (chain) where missing_since is not null;

-- The newest final transaction of a chain shows whether the chain has dropped a block that was final.
create index transactions_final on transactions (chain, block_height desc, id desc) where final_at is not null;
