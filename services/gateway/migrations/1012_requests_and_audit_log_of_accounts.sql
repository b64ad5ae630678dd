-- The last requests of each account that were refused or failed, for the developers of the shop: paths without their queries, no
-- bodies. Written in batches: a crash loses those of the last second. Old ones, and all but the newest of an account, are deleted.
create table failed_requests (
  -- begins with its time
  id text collate "C" primary key,
  account_id text collate "C" not null,
  at timestamptz(3) not null,
  method text not null,
  path text not null constraint failed_requests_path_within_limit check (char_length(path) <= 300),
  status smallint not null constraint failed_requests_status_of_errors check (status between 400 and 599),
  -- null where the answer names none
  code text,
  -- an API token, or a person who has signed in
  actor text not null,
  address text
);
create index failed_requests_of_account on failed_requests (account_id, id);
revoke update on failed_requests from quittance_gateway;

-- Owners read the entries of their account, the newest first.
create index audit_log_of_account on audit_log (account_id, position);
