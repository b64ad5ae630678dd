-- One audit log: what operators do is written here too, by the functions of the schema `operator`. Each entry has the hash of
-- the one before it in its own, so that nobody can change or leave out an entry without changing all that follow.
alter table audit_log
  -- What an operator changes may be of no account.
  alter column account_id drop not null,
  add column subject text,
  -- From where: the address of the client, or the computer of the command line.
  add column source text,
  -- The database role that wrote it: a writer cannot say that it was another.
  add column written_by text,
  -- One higher for each entry, in the order of commits, without a gap. Null until the transaction commits.
  add column position bigint constraint audit_log_position_once unique,
  add column hash bytea,
  add constraint audit_log_chained check ((position is null) = (hash is null));
alter table audit_log alter column written_by set default session_user;

-- The gateway computes it too when it verifies the log, see audit-chain.ts.
create function audit_hash(previous bytea, entry audit_log) returns bytea
language sql stable set search_path = pg_temp as $$
  select sha256(previous || convert_to(json_build_array(
    entry.position::text, to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), entry.actor, entry.source,
    entry.written_by, entry.action, entry.account_id, entry.token_id, entry.subject, entry.detail)::text, 'UTF8'));
$$;

-- At the end of each transaction, so that writers wait for each other as briefly as can be, and with no lock to take after it.
create function chain_audit_log() returns trigger
language plpgsql security definer set search_path = pg_temp as $$
declare
  previous record;
  entry gateway.audit_log;
begin
  perform pg_advisory_xact_lock(hashtext('quittance audit log'));
  select position, hash into previous from gateway.audit_log where position is not null order by position desc limit 1;
  select * into entry from gateway.audit_log where seq = new.seq;
  entry.position := coalesce(previous.position, 0) + 1;
  update gateway.audit_log
  set position = entry.position, hash = gateway.audit_hash(coalesce(previous.hash, ''), entry)
  where seq = entry.seq;
  return null;
end $$;
create constraint trigger audit_log_chains after insert on audit_log
  deferrable initially deferred for each row execute function chain_audit_log();

create function keep_audit_log() returns trigger language plpgsql set search_path = pg_temp as $$
begin
  if tg_op = 'UPDATE' and old.hash is null
    and to_jsonb(new) - '{position,hash}'::text[] = to_jsonb(old) - '{position,hash}'::text[] then return new; end if;
  raise exception 'entries of the audit log are neither changed nor deleted';
end $$;
create trigger audit_log_is_kept before update or delete on audit_log
  for each row execute function keep_audit_log();
create trigger audit_log_is_never_emptied before truncate on audit_log
  for each statement execute function keep_audit_log();
revoke execute on function audit_hash, chain_audit_log, keep_audit_log from public;

-- What was written before.
do $$
declare
  previous record;
  entry gateway.audit_log;
begin
  select 0::bigint as position, ''::bytea as hash into previous;
  for entry in select * from gateway.audit_log order by seq loop
    entry.position := previous.position + 1;
    update gateway.audit_log set position = entry.position, hash = gateway.audit_hash(previous.hash, entry)
    where seq = entry.seq returning position, hash into previous;
  end loop;
end $$;

-- The gateway says neither when, nor where in the order, nor who wrote.
revoke insert on audit_log from quittance_gateway;
grant insert (actor, source, action, account_id, token_id, subject, detail) on audit_log to quittance_gateway;
