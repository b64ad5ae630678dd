-- The addresses this service signs for, and the nonce that each of them uses next.
create table wallets (
  chain text not null,
  address text not null,
  role text not null constraint wallets_role_known check (role in ('hot', 'deposit')),
  next_nonce bigint not null constraint wallets_next_nonce_not_negative check (next_nonce >= 0),
  created_at timestamptz not null default now(),
  primary key (chain, address)
);
-- Another seed has another hot wallet: it must not slip in unnoticed.
create unique index wallets_one_hot_wallet on wallets (chain) where role = 'hot';

-- Every transaction that was ever signed, stored before anybody else could see it.
create table transactions (
  id bigint generated always as identity primary key,
  chain text not null,
  -- who sends it and pays for it
  wallet text not null,
  nonce bigint not null,
  purpose text not null constraint transactions_purpose_known check (purpose in ('payout', 'sweep')),
  payout_id bigint constraint transactions_payout_once unique,
  -- the deposit address that a sweep empties
  swept_address text,
  asset text not null,
  -- what arrives: at the recipient, or at the hot wallet
  amount numeric(78, 0) not null constraint transactions_amount_positive check (amount > 0),
  -- the most the fee can take, in the chain's native asset
  max_cost numeric(78, 0) not null constraint transactions_max_cost_not_negative check (max_cost >= 0),
  min_confirmations int not null,
  raw text not null,
  tx_hash text not null constraint transactions_hash_once unique,
  state text not null default 'signed' constraint transactions_state_known check (
    state in ('signed', 'broadcast', 'mined', 'reverted', 'dead')),
  -- the lease token under which it was signed
  fence bigint not null,
  broadcasts int not null default 0,
  first_broadcast_at timestamptz,
  last_broadcast_at timestamptz,
  -- the block it was last seen in; none while it is in no block
  block_height bigint,
  block_hash text,
  fee_paid numeric(78, 0),
  -- when it was first found that the chain may have passed it by
  doubted_at timestamptz,
  looked_at timestamptz,
  -- the chain has finalized what became of it
  final_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- a nonce is never used for a second transaction, not even for the same payout
  constraint transactions_nonce_once unique (chain, wallet, nonce),
  constraint transactions_serve_their_purpose check (
    (payout_id is not null) = (purpose = 'payout') and (swept_address is not null) = (purpose = 'sweep')),
  constraint transactions_mined_in_a_block check (
    state not in ('mined', 'reverted') or (block_height is not null and block_hash is not null))
);
create index transactions_open on transactions (chain, wallet, nonce) where state in ('signed', 'broadcast');
create index transactions_not_final on transactions (looked_at nulls first)
  where state in ('mined', 'reverted') and final_at is null;
create unique index transactions_one_sweep_at_a_time on transactions (chain, swept_address, asset)
  where purpose = 'sweep' and state in ('signed', 'broadcast');
