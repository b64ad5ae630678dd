-- What is pruned can be kept until `quittance archive write` has written it into a file: docs/decisions/0032.

-- One row while what is pruned is kept. Without it, pruned events are deleted.
create table archiving (
  is_only boolean primary key default true constraint archiving_is_one_row check (is_only),
  since timestamptz not null default now()
);

-- A pruned event with its deliveries and attempts, as a line of the file of its month. A partition for each month of the year:
-- one always exists, and a month is removed by emptying its partition. In each there may be months of several years.
create table pruned_events (
  month_of_year smallint not null,
  -- the first day of the month (UTC) in which the event happened
  month date not null constraint pruned_events_in_their_month
    check (extract(day from month) = 1 and extract(month from month) = month_of_year),
  -- files are in this order, whatever the order of the database is
  account_id text collate "C" not null,
  sequence bigint not null,
  line text not null constraint pruned_events_one_line check (line !~ '[\n\r]'),
  constraint pruned_events_once primary key (month_of_year, account_id, sequence)
) partition by list (month_of_year);
do $$
begin
  for month in 1..12 loop
    execute format('create table pruned_events_%s partition of pruned_events for values in (%s)',
      lpad(month::text, 2, '0'), month);
    execute format('revoke all on pruned_events_%s from quittance_webhooks', lpad(month::text, 2, '0'));
  end loop;
end $$;
-- The service neither reads nor changes it: `prune_events` adds to it.
revoke all on archiving, pruned_events from quittance_webhooks;

-- Called by `prune_events` alone, which holds the locks. `data` is as it was stored, but for line breaks between its tokens:
-- JSON has none within a string.
create function keep_pruned_events(of_account text, receivers bigint[], first_kept bigint, last_pruned bigint) returns void
language sql set search_path = webhooks, pg_temp set timezone = 'UTC' as $$
  insert into pruned_events (month_of_year, month, account_id, sequence, line)
  select extract(month from created_at), date_trunc('month', created_at)::date, account_id, sequence,
    translate(json_build_object('id', id, 'event', kind, 'created_at', created_at, 'account_id', account_id,
      'sequence', sequence, 'resource_id', resource_id, 'version', version, 'data', data, 'deliveries', (
        select coalesce(json_agg(json_build_object('webhook_id', p.id, 'url', p.url, 'status', d.state, 'attempts', (
            select coalesce(json_agg(json_build_object('number', number, 'started_at', started_at, 'ms', ms,
              'status', status, 'failure', failure, 'answer', answer) order by number), '[]')
            from attempts a where a.endpoint_key = d.endpoint_key and a.sequence = d.sequence)) order by p.key), '[]')
        from deliveries d join endpoints p on p.key = d.endpoint_key
        where d.endpoint_key = any(receivers) and d.sequence = e.sequence))::text, E'\n\r', '  ')
  from events e where account_id = of_account and sequence between first_kept and last_pruned;
$$;
revoke execute on function keep_pruned_events(text, bigint[], bigint, bigint) from public;

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

  if exists (select from archiving) then
    perform keep_pruned_events(of_account, receivers, first_kept, last_pruned);
  end if;
  delete from attempts where endpoint_key = any(receivers) and sequence between first_kept and last_pruned;
  delete from deliveries where endpoint_key = any(receivers) and sequence between first_kept and last_pruned;
  delete from events where account_id = of_account and sequence between first_kept and last_pruned;
  get diagnostics pruned = row_count;
  update accounts set pruned_through = last_pruned where account_id = of_account;
  return pruned;
end $$;
