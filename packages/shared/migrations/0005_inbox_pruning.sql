-- What was taken in is remembered for as long as its sender may send it again, and then removed. Ids are ordered by time, and
-- each sender says which is the oldest that it still keeps. An event with an id before `before_id` is one that no sender keeps:
-- when it comes all the same, and is not in the inbox, it may have been taken in and removed. It is put aside, never taken for new.
create table inbox_pruning (
  is_only boolean primary key default true constraint inbox_pruning_is_one_row check (is_only),
  before_id text not null,
  -- Refused from then on. Removed some minutes later: whoever began to take in an event before that has ended by then.
  since timestamptz not null default now()
);

-- Old events that an operator has found not to be taken in: each is taken in once more when it comes, and leaves this table.
create table inbox_admitted (
  event_id text primary key,
  at timestamptz not null default now()
);

do $$
declare
  -- Of this schema: these tables stand in every service's.
  service name := (select nspname from pg_namespace where oid =
    (select relnamespace from pg_class where oid = 'inbox_pruning'::regclass));
  role text := quote_ident('quittance_' || service);
begin
  execute 'revoke delete on inbox_pruning from ' || role;
  execute 'revoke insert, update on inbox_admitted from ' || role;
  -- The one way in which inbox rows are removed. The service's role may not delete; it may call this, which knows how old is
  -- old enough by the database's own clock. Senders keep an event for 30 days after all have it, the bus for seven.
  execute format($function$
    create function prune_inbox(at_most int) returns int
    language plpgsql security definer set search_path = %I, pg_temp as $body$
    declare
      gone int;
    begin
      with old as materialized (
        select event_id from inbox
        where event_id < (select before_id from inbox_pruning where since < now() - interval '10 minutes')
          and received_at < now() - interval '30 days'
        order by event_id limit least(coalesce(at_most, 500), 1000)
        for update skip locked)
      delete from inbox using old where inbox.event_id = old.event_id;
      get diagnostics gone = row_count;
      return gone;
    end $body$
  $function$, service);
  execute 'revoke execute on function prune_inbox(int) from public';
  execute 'grant execute on function prune_inbox(int) to ' || role;
end $$;
