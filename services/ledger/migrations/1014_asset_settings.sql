-- What replicas are configured with, ASSETS_ACTIVE and MIN_CONFIRMATIONS, so that they agree on one of them while they
-- differ, as in a rolling restart: those that came last (the greatest id) of the replicas that run are in force.
create table asset_settings (
  id bigint generated always as identity primary key,
  settings jsonb not null constraint asset_settings_once unique,
  first_seen_at timestamptz not null default now(),
  -- when they were last written to assets; those written last are what assets has
  in_force_since timestamptz
);

-- Who runs with which. A replica that is stopped takes its row away, one that died is not counted after a while.
create table asset_settings_replicas (
  replica text primary key,
  settings_id bigint not null references asset_settings,
  seen_at timestamptz not null default now()
);

revoke delete on asset_settings from quittance_ledger;
