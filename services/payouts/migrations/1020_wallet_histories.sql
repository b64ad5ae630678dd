-- How far a hot wallet's history in its chain is known to be ours, on chains that do not number its transactions.
create table wallet_histories (
  chain text not null,
  address text not null,
  -- the newest transaction that was looked at; null while there is none
  signature text,
  updated_at timestamptz not null default now(),
  constraint wallet_histories_once primary key (chain, address)
);
