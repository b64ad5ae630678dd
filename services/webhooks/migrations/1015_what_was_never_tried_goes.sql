-- One token could fill the disk: register an endpoint, replay 50,000 events to it, delete it, and begin again. What was queued
-- for an endpoint and never tried goes when the endpoint is deleted; what was tried stays in the log for as long as events do.
create index deliveries_cancelled_untried on deliveries (endpoint_key) where state = 'cancelled' and attempts = 0;

-- Ends a part of what waits for a deleted endpoint: removes what was never tried and cancels the rest. Removes also what an older
-- release has cancelled untried. Answers how many rows it took; fewer than at_most were the last. A deleted endpoint has no lane,
-- so nobody sends any of them meanwhile.
create function end_deliveries_of_deleted(of_endpoint bigint, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  batch constant int := least(coalesce(at_most, 200), 1000);
  waiting int;
  cancelled int;
begin
  perform from endpoints p where key = of_endpoint and deleted_at is not null
    and not exists (select from lanes l where l.endpoint_key = p.key);
  if not found then return 0; end if;

  with part as materialized (
    select sequence, attempts from deliveries where endpoint_key = of_endpoint and state = 'waiting' limit batch for update),
  kept as (
    update deliveries d set state = 'cancelled' from part
    where d.endpoint_key = of_endpoint and d.sequence = part.sequence and part.attempts > 0),
  gone as (
    delete from deliveries d using part
    where d.endpoint_key = of_endpoint and d.sequence = part.sequence and part.attempts = 0)
  select count(*) into waiting from part;

  with part as materialized (
    select sequence from deliveries where endpoint_key = of_endpoint and state = 'cancelled' and attempts = 0
    limit batch - waiting for update)
  delete from deliveries d using part where d.endpoint_key = of_endpoint and d.sequence = part.sequence;
  get diagnostics cancelled = row_count;
  return waiting + cancelled;
end $$;
revoke execute on function end_deliveries_of_deleted(bigint, int) from public;
grant execute on function end_deliveries_of_deleted(bigint, int) to quittance_webhooks;

-- A deleted endpoint stays to explain what was tried. One with nothing to explain goes within the hour: one token can register
-- and delete thousands a day.
create or replace function forget_endpoints(at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  gone int;
begin
  with old as materialized (
    select key from endpoints p
    where deleted_at < now() - interval '1 hour' and not cancelling
      and not exists (select from lanes l where l.endpoint_key = p.key)
      and not exists (select from deliveries d where d.endpoint_key = p.key)
      and not exists (select from attempts a where a.endpoint_key = p.key)
    order by deleted_at limit least(coalesce(at_most, 200), 1000)
    for update skip locked),
  secrets as (delete from endpoint_secrets s using old where s.endpoint_key = old.key)
  delete from endpoints p using old where p.key = old.key;
  get diagnostics gone = row_count;
  return gone;
end $$;

-- How many deliveries an account has had queued by replays, and on which day (UTC).
alter table accounts add column replayed_on date;
alter table accounts add column replayed int not null default 0
  constraint accounts_replayed_not_negative check (replayed >= 0);
grant update (replayed_on, replayed) on accounts to quittance_webhooks;
