-- Kept for ever: a key that was used once can never pay a second time.
create table idempotency_keys (
  account_id text not null,
  key text not null,
  body_hash text not null,
  resource_id text not null,
  -- null while the first request is under way
  status int,
  -- json, not jsonb: the answer is given again as it was given
  body json,
  created_at timestamptz not null default now(),
  constraint idempotency_keys_once primary key (account_id, key)
);
create index idempotency_keys_running on idempotency_keys (resource_id) where status is null;
