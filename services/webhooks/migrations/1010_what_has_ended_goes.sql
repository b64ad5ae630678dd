-- A batch has its limit here, whoever asks.
create or replace function forget_events(of_account text, at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  batch constant int := least(coalesce(at_most, 200), 1000);
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
      order by sequence limit batch) as oldest) as told
  where may_go;
  if last_gone is null then return 0; end if;

  delete from attempts where endpoint_key = any(receivers) and sequence between first_kept and last_gone;
  delete from deliveries where endpoint_key = any(receivers) and sequence between first_kept and last_gone;
  delete from events where account_id = of_account and sequence between first_kept and last_gone;
  get diagnostics gone = row_count;
  update accounts set forgotten = last_gone where account_id = of_account;
  return gone;
end $$;

-- A deleted endpoint explains what was delivered to it; it goes when there is nothing left to explain. It has no lane,
-- so nothing new is made for it.
create index endpoints_deleted on endpoints (deleted_at) where deleted_at is not null;
create function forget_endpoints(at_most int) returns int
language plpgsql security definer set search_path = webhooks, pg_temp as $$
declare
  gone int;
begin
  with old as materialized (
    select key from endpoints p
    where deleted_at < now() - interval '90 days'
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
revoke execute on function forget_endpoints(int) from public;
grant execute on function forget_endpoints(int) to quittance_webhooks;

-- The service's role changes what becomes of a row, never whose it is.
do $$
declare
  changed record;
  columns text;
begin
  for changed in select * from (values
    ('endpoints', '{key, id, account_id, created_at}'::text[]),
    ('lanes', '{endpoint_key}'),
    ('deliveries', '{endpoint_key, sequence}')) as kept(relation, fixed)
  loop
    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
    where attrelid = format('webhooks.%I', changed.relation)::regclass and attnum > 0 and not attisdropped
      and attgenerated = '' and not attname = any(changed.fixed);
    execute format('revoke update on webhooks.%I from quittance_webhooks', changed.relation);
    execute format('grant update (%s) on webhooks.%I to quittance_webhooks', columns, changed.relation);
  end loop;
end $$;
