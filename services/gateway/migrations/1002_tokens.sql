-- API tokens. Only a token's hash is kept: whoever reads this table can call nothing with it.
create table tokens (
  id text primary key,
  account_id text not null constraint tokens_account_exists references accounts (id),
  name text not null,
  hash bytea not null constraint tokens_hash_unique unique,
  -- the token's last characters, so that its owner can tell which one it is
  hint text not null,
  created_at timestamptz not null default now(),
  -- written in batches, at most once a minute
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint tokens_name_given check (name <> '' and char_length(name) <= 255),
  constraint tokens_hash_is_sha256 check (octet_length(hash) = 32)
);
create index tokens_of_account on tokens (account_id, created_at);
