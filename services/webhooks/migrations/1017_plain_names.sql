-- The names of docs/glossary.md. Webhooks and the auditor of the former release are stopped before this migration.
drop view lanes;
alter table endpoint_queues rename constraint lanes_pkey to endpoint_queues_pkey;
alter table endpoint_queues rename constraint lanes_endpoint_key_fkey to endpoint_queues_endpoint_key_fkey;
alter table endpoints rename column kinds to event_types;
alter table endpoints rename column told_since to subscribed_since;
alter table endpoints rename column cancelling to has_deliveries_to_cancel;
alter table endpoint_secrets rename column sealed to encrypted_secret;
alter table deliveries rename column round_start to cycle_start;
alter table deliveries rename column asked_for to manual;
alter table deliveries rename constraint deliveries_round_begun to deliveries_cycle_started;
alter table accounts rename column forgotten to pruned_through;

-- The bodies of these functions name the columns.
create or replace function prune_events(of_account text, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  batch constant int := least(coalesce(at_most, 200), 1000);
  first_kept bigint;
  last_pruned bigint;
  receivers bigint[];
  pruned int;
begin
  -- Locks in the order of all: the account, then its queues, so that nothing is queued meanwhile of what is pruned.
  select pruned_through + 1 into first_kept from accounts where account_id = of_account for update;
  select coalesce(array_agg(key), '{}') into receivers from endpoints where account_id = of_account;
  perform from endpoint_queues where endpoint_key = any(receivers) order by endpoint_key for update;

  -- Stops at what is younger than 90 days, and at what is still to be delivered.
  select max(sequence) into last_pruned from (
    select sequence, bool_and(may_go) over (order by sequence) as may_go from (
      select sequence, created_at < now() - interval '90 days' and not exists (
        select from deliveries d where d.endpoint_key = any(receivers) and d.sequence = e.sequence
          and d.state in ('waiting', 'sending')) as may_go
      from events e where account_id = of_account and sequence >= first_kept
      order by sequence limit batch) as oldest) as checked
  where may_go;
  if last_pruned is null then return 0; end if;

  delete from attempts where endpoint_key = any(receivers) and sequence between first_kept and last_pruned;
  delete from deliveries where endpoint_key = any(receivers) and sequence between first_kept and last_pruned;
  delete from events where account_id = of_account and sequence between first_kept and last_pruned;
  get diagnostics pruned = row_count;
  update accounts set pruned_through = last_pruned where account_id = of_account;
  return pruned;
end $$;

create or replace function prune_endpoints(at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  pruned int;
begin
  with old as materialized (
    select key from endpoints p
    where deleted_at < now() - interval '1 hour' and not has_deliveries_to_cancel
      and not exists (select from endpoint_queues q where q.endpoint_key = p.key)
      and not exists (select from deliveries d where d.endpoint_key = p.key)
      and not exists (select from attempts a where a.endpoint_key = p.key)
    order by deleted_at limit least(coalesce(at_most, 200), 1000)
    for update skip locked),
  secrets as (delete from endpoint_secrets s using old where s.endpoint_key = old.key)
  delete from endpoints p using old where p.key = old.key;
  get diagnostics pruned = row_count;
  return pruned;
end $$;
