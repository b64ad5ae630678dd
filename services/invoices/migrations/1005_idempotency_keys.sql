-- Answers given to requests that came with an Idempotency-Key, kept 30 days.
create table idempotency_keys (
  account_id text collate "C" not null,
  key text collate "C" not null,
  body_hash text not null,
  resource_id text not null,
  status int,
  -- json, not jsonb: the answer is given again as it was given
  body json,
  created_at timestamptz not null default now(),
  constraint idempotency_keys_once primary key (account_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
