-- When an attempt failed last: failures with days of silence between them are not days of failures.
alter table lanes add column failed_at timestamptz;
update lanes set failed_at = failing_since;
grant update (failed_at) on lanes to quittance_webhooks;
