-- Where merchants want to be told. `key` is the short name inside this schema, `id` the one outside.
create table endpoints (
  key bigint generated always as identity primary key,
  id text not null constraint endpoints_id_once unique,
  account_id text not null,
  url text not null constraint endpoints_url_length check (length(url) <= 2048),
  -- the kinds of event it is told of
  kinds text[] not null,
  description text,
  enabled boolean not null default true,
  -- why Quittance itself disabled it; null while enabled
  disabled_reason text,
  created_at timestamptz not null,
  -- deleted ones stay while anything that was delivered to them is kept, to explain it; their secrets do not
  deleted_at timestamptz
);
create index endpoints_of_account on endpoints (account_id, key) where deleted_at is null;

-- What deliveries are signed with, encrypted under a key the database does not have. More than one while a
-- former secret is still good.
create table endpoint_secrets (
  endpoint_key bigint not null references endpoints (key),
  sealed bytea not null,
  created_at timestamptz not null,
  ends_at timestamptz,
  primary key (endpoint_key, created_at)
);
