-- A lane becomes a queue per endpoint: a concurrency limit, and a circuit breaker that follows from what the row says.
-- Replicas of webhooks of the former release are to be stopped before this migration, because they claim by columns that it
-- removes. Deliveries wait meanwhile, and none is lost.
--
-- Always true, outside of a transaction that holds the row's lock:
--   new_due_at (for deliveries never tried) and retry_due_at (for the others) are not later than the due_at of any such
--   delivery that waits, or than open_until, unless something is in flight to the endpoint. Whoever ends an attempt sets
--   both to what waits; a claim that finds no free slot sets them to null.
-- Neither is earlier than open_until: an open circuit is not looked at.
alter table lanes rename to endpoint_queues;
alter sequence lane_generations rename to endpoint_generations;
alter table endpoint_queues rename column due_at to new_due_at;
alter table endpoint_queues rename column failures to consecutive_failures;
alter table endpoint_queues rename column failed_at to last_failed_at;
alter table endpoint_queues rename column proven to has_succeeded;
alter table endpoint_queues rename column paused_until to open_until;
drop index lanes_prompt, lanes_fresh, lanes_failing, lanes_retry_due;
alter table endpoint_queues drop column "full", drop column retries_full;

create index endpoint_queues_new_due on endpoint_queues (new_due_at);
create index endpoint_queues_retry_due on endpoint_queues (retry_due_at);
-- Endpoints that took the last delivery they were sent: their new deliveries are claimed without passing over all others.
create index endpoint_queues_healthy_due on endpoint_queues (new_due_at)
  where has_succeeded and consecutive_failures = 0 and open_until is null;

-- A full lane said nothing about when to look at it. The first claim finds out what waits.
update endpoint_queues set new_due_at = greatest(now(), open_until), retry_due_at = greatest(now(), open_until);

-- For readers of the former release: the auditor, which may be upgraded later, and its first migration, which names it.
create view lanes as
  select endpoint_key, new_due_at as due_at, exists (
      select from deliveries d where d.endpoint_key = q.endpoint_key and d.state = 'sending') as "full",
    consecutive_failures as failures, failing_since, retry_due_at, false as retries_full, has_succeeded as proven,
    generation, last_failed_at as failed_at, open_until as paused_until, missed_since
  from endpoint_queues q;
revoke all on lanes from quittance_webhooks;

-- The bodies of these functions name the table. Their names say what they do.
drop function forget_events(text, int);
create function prune_events(of_account text, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  batch constant int := least(coalesce(at_most, 200), 1000);
  first_kept bigint;
  last_pruned bigint;
  receivers bigint[];
  pruned int;
begin
  -- Locks in the order of all: the account, then its queues, so that nothing is queued meanwhile of what is pruned.
  select forgotten + 1 into first_kept from accounts where account_id = of_account for update;
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
  update accounts set forgotten = last_pruned where account_id = of_account;
  return pruned;
end $$;
revoke execute on function prune_events(text, int) from public;
grant execute on function prune_events(text, int) to quittance_webhooks;

-- Ends a part of what waits for a deleted endpoint: removes what was never tried and cancels the rest. Removes also what
-- was cancelled untried before. Returns how many rows it took; fewer than at_most were the last. A deleted endpoint has no
-- queue, so nothing sends any of them meanwhile.
drop function end_deliveries_of_deleted(bigint, int);
create function prune_deliveries_of_deleted(of_endpoint bigint, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  batch constant int := least(coalesce(at_most, 200), 1000);
  waiting int;
  cancelled int;
begin
  perform from endpoints p where key = of_endpoint and deleted_at is not null
    and not exists (select from endpoint_queues q where q.endpoint_key = p.key);
  if not found then return 0; end if;

  with part as materialized (
    select sequence, attempts from deliveries where endpoint_key = of_endpoint and state = 'waiting' limit batch for update),
  kept as (
    update deliveries d set state = 'cancelled' from part
    where d.endpoint_key = of_endpoint and d.sequence = part.sequence and part.attempts > 0),
  removed as (
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
revoke execute on function prune_deliveries_of_deleted(bigint, int) from public;
grant execute on function prune_deliveries_of_deleted(bigint, int) to quittance_webhooks;

-- A deleted endpoint explains what was delivered to it. It goes when nothing of that is left, an hour after it was deleted
-- at the earliest.
drop function forget_endpoints(int);
create function prune_endpoints(at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  pruned int;
begin
  with old as materialized (
    select key from endpoints p
    where deleted_at < now() - interval '1 hour' and not cancelling
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
revoke execute on function prune_endpoints(int) from public;
grant execute on function prune_endpoints(int) to quittance_webhooks;
