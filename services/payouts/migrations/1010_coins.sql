-- Outputs on Bitcoin that are ours, each spent as a whole. Nothing is signed with one that is not locked here first.
create table coins (
  -- <transaction hash>:<output>
  outpoint text primary key,
  chain text not null,
  address text not null,
  -- where its key stands: below the account that gives out addresses, the hot address, our own change
  branch text not null constraint coins_branch_known check (branch in ('deposit', 'hot', 'change')),
  derivation_index bigint not null constraint coins_index_not_negative check (derivation_index >= 0),
  amount numeric(78, 0) not null constraint coins_amount_positive check (amount > 0),
  -- coming: change of a transaction that is in no block
  state text not null constraint coins_state_known check (state in ('coming', 'available', 'locked', 'spent')),
  source_deposit_id text constraint coins_deposit_once unique,
  -- whose change it is
  source_family bigint references transactions (id),
  -- the family whose transactions spend it
  locked_by bigint references transactions (id),
  -- it will never be there (again): its deposit was dropped, or another attempt of its family was mined
  reversed_at timestamptz,
  -- it was not in the chain when it was to be spent: not planned with before this time
  retry_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint coins_come_from_somewhere check (
    (source_deposit_id is not null) = (branch = 'deposit') and (source_family is not null) = (branch = 'change')),
  constraint coins_lock_is_named check ((locked_by is not null) = (state in ('locked', 'spent')))
);
create index coins_spendable on coins (chain, amount desc) where state = 'available' and reversed_at is null;
create index coins_of_family on coins (locked_by) where locked_by is not null;
create index coins_of_source on coins (source_family) where source_family is not null;

-- Every change has an address of its own.
create sequence coin_change_indexes minvalue 0;

-- Up to which block the hot address was looked for: operators send money there.
create table coin_cursors (
  chain text primary key,
  height bigint not null constraint coin_cursors_height_not_negative check (height >= 0),
  updated_at timestamptz not null default now()
);
