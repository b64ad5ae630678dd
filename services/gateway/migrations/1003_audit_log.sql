-- Who made or revoked what. Written with the deed; the service itself cannot change or delete a line.
create table audit_log (
  seq bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  account_id text not null,
  token_id text
);
revoke update, delete on audit_log from quittance_gateway;
