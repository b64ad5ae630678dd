-- How many requests each token of the account may send in a minute. Null: as many as RATE_LIMIT_PER_MINUTE says.
alter table accounts add column requests_per_minute integer
  constraint accounts_requests_per_minute_valid check (requests_per_minute between 1 and 1000000);
-- The commands of the operator that use this role may change the limit, and nothing else of an account.
grant update (requests_per_minute) on accounts to quittance_gateway;
-- To what something was changed; null where the action says all.
alter table audit_log add column detail text;
