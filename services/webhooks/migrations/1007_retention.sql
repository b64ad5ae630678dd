-- Events are kept for 90 days. What is older is forgotten with its deliveries and attempts, from the oldest on, so that
-- what is kept has no gap: it begins at forgotten + 1.
alter table accounts add column forgotten bigint not null default 0;
alter table accounts add constraint accounts_forgotten_was_given_out check (forgotten between 0 and last_sequence);
revoke update on accounts from quittance_webhooks;
grant update (last_sequence) on accounts to quittance_webhooks;

-- The one way in which anything of the log is removed. The service's role may not delete; it may call this, which knows
-- how old is old enough by the database's own clock. Stops at what is younger, and at what is still to be delivered: a
-- redelivery may be asked for on the last day. Locks like everybody, the account and then its lanes, so that nothing is
-- asked for meanwhile of what goes; with few events at a time nobody waits for long. Answers how many went.
create function forget_events(of_account text, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  first_kept bigint;
  last_gone bigint;
  receivers bigint[];
  gone int;
begin
  select forgotten + 1 into first_kept from accounts where account_id = of_account for update;
  select coalesce(array_agg(key), '{}') into receivers from endpoints where account_id = of_account;
  perform from lanes where endpoint_key = any(receivers) order by endpoint_key for update;

  select max(sequence) into last_gone from (
    select sequence, bool_and(may_go) over (order by sequence) as may_go from (
      select sequence, created_at < now() - interval '90 days' and not exists (
        select from deliveries d where d.endpoint_key = any(receivers) and d.sequence = e.sequence
          and d.state in ('waiting', 'sending')) as may_go
      from events e where account_id = of_account and sequence >= first_kept
      order by sequence limit at_most) as oldest) as told
  where may_go;
  if last_gone is null then return 0; end if;

  delete from attempts where endpoint_key = any(receivers) and sequence between first_kept and last_gone;
  delete from deliveries where endpoint_key = any(receivers) and sequence between first_kept and last_gone;
  delete from events where account_id = of_account and sequence between first_kept and last_gone;
  get diagnostics gone = row_count;
  update accounts set forgotten = last_gone where account_id = of_account;
  return gone;
end $$;
revoke execute on function forget_events(text, int) from public;
grant execute on function forget_events(text, int) to quittance_webhooks;
