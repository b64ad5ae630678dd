-- The rights of the operator's role: it reads what the commands show and calls the functions with which they change data.
-- Executed after the migrations of all services, each time: it revokes and grants all rights and replaces its functions.
create schema if not exists operator;
revoke all on schema operator from public;
grant usage on schema operator to quittance_operator;

-- Rights that an older release granted are revoked first.
revoke all on all tables in schema gateway, invoices, payouts, ledger, webhooks, auditor, operator from quittance_operator;
revoke quittance_auditor from quittance_operator;
drop function if exists operator.requeue(text, text, text, text);
drop function if exists operator.requeue(text, text, text);
drop function if exists operator.requeue(text, text, text, boolean);
drop function if exists operator.note(text, text, text);

grant usage on schema gateway, invoices, payouts, ledger, webhooks, auditor to quittance_operator;

-- The records that the auditor reads: before payouts of an asset are resumed, every row is checked once more.
do $$
declare
  readable record;
begin
  for readable in
    select c.oid::regclass as name, string_agg(quote_ident(a.attname), ', ') as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
      and c.relnamespace = any('{invoices, payouts, ledger, webhooks, auditor}'::regnamespace[])
      and has_column_privilege('quittance_auditor', c.oid, a.attnum, 'select')
    group by c.oid
  loop
    execute format('grant select (%s) on %s to quittance_operator', readable.columns, readable.name);
  end loop;
end $$;

grant select on
  gateway.accounts, gateway.audit_log, gateway.operators,
  invoices.invoices, invoices.unchosen_invoices, invoices.deposits, invoices.mempool_payments, invoices.cursors, invoices.blocks, invoices.leases,
  invoices.rescans,
  payouts.payouts, payouts.payments, payouts.wallets, payouts.wallet_histories, payouts.utxos, payouts.leases,
  payouts.halted_assets,
  ledger.holds, ledger.transfers, ledger.entries, ledger.unresolved, ledger.reversals,
  webhooks.endpoints, webhooks.deliveries, webhooks.attempts, webhooks.endpoint_queues, webhooks.archiving
to quittance_operator;
-- Not the signed bytes, not the secrets.
grant select (id, chain, wallet, nonce, replacement_group, attempt, purpose, asset, amount, fee_paid, tx_hash, state, broadcasts,
  first_broadcast_at, last_broadcast_at, block_height, block_hash, final_at, missing_since,
  created_at, updated_at)
  on payouts.transactions to quittance_operator;
grant select (account_id, sequence, id, kind, created_at, resource_id, version) on webhooks.events to quittance_operator;
-- Which assets merchants may use: the doctor compares them with the chains that are configured.
grant select (active) on ledger.assets to quittance_operator;
-- Which months wait to be archived, and not what is in them.
grant select (month_of_year, month) on webhooks.pruned_events to quittance_operator;
grant select on
  invoices.outbox, invoices.inbox, invoices.dead_letters, payouts.outbox, payouts.inbox, payouts.dead_letters,
  ledger.outbox, ledger.inbox, ledger.dead_letters, webhooks.outbox, webhooks.inbox, webhooks.dead_letters,
  auditor.outbox, auditor.inbox, auditor.dead_letters
to quittance_operator;

-- For pausing and resuming payouts of an asset, which also accepts discrepancies and sends an event to payouts: see the
-- auditor's halts.ts and resume-payouts.ts.
grant insert (asset, discrepancies, halted_at), update (discrepancies, resumed_at, forced, notified_at) on auditor.halts to quittance_operator;
grant insert, update, delete on auditor.discrepancies to quittance_operator;
grant insert (asset, amount, cause, noted_at) on auditor.operator_funds to quittance_operator;
grant insert (id, kind, payload, request_id, created_at) on auditor.outbox to quittance_operator;

-- To ask for a delivery again, as its merchant may: its endpoint's queue is locked first, see webhooks' store/endpoint-queues.ts.
grant update (state, due_at, cycle_start, manual) on webhooks.deliveries to quittance_operator;
grant update (new_due_at, retry_due_at) on webhooks.endpoint_queues to quittance_operator;

-- Written in the transaction of the change. The command line says in a setting of its connection where it runs.
create or replace function operator.write_audit_log(of_actor text, of_action text, of_subject text) returns void
language sql security definer set search_path = pg_temp as $$
  insert into gateway.audit_log (actor, source, action, subject)
  values (of_actor, nullif(current_setting('quittance.source', true), ''), of_action, of_subject);
$$;

-- Former releases had a log for operators alone, the first of them by another name.
do $$
declare
  former regclass := coalesce(to_regclass('operator.audit_log'), to_regclass('operator.deeds'));
begin
  if former is null then return; end if;
  execute format('insert into gateway.audit_log (at, actor, action, subject, written_by)
    select at, actor, %I, subject, ''quittance_operator'' from %s order by seq',
    case when former = to_regclass('operator.deeds') then 'deed' else 'action' end, former);
  execute format('drop table %s', former);
end $$;

-- Which service sends which kind of event to which receivers in this release: filled by migrate-all.ts.
create table if not exists operator.kinds (
  kind text not null,
  sender text not null,
  receiver text not null,
  primary key (kind, receiver)
);
grant select on operator.kinds to quittance_operator;

-- The services whose outbox has this event, of a kind that the service sends to this receiver. Only the service itself can
-- write to its outbox.
create or replace function operator.senders_of(of_receiver text, of_event text) returns text[]
language sql stable set search_path = pg_temp as $$
  with sent as (
    select 'invoices' as sender, kind from invoices.outbox where id = of_event
    union all select 'payouts', kind from payouts.outbox where id = of_event
    union all select 'ledger', kind from ledger.outbox where id = of_event
    union all select 'auditor', kind from auditor.outbox where id = of_event)
  select coalesce(array_agg(s.sender), '{}')
  from sent s join operator.kinds k on k.sender = s.sender and k.kind = s.kind
  where k.receiver = of_receiver;
$$;

-- Sends a dead letter again: its sender sends the event of its own outbox to all receivers, and those that have processed it
-- drop it. When processing fails again, it becomes a dead letter again.
-- Only the id of the dead letter is used. The role of the receiver can write anything into that row: if its kind, sender or
-- payload were believed, a compromised service could send events of another one and forge a credited payment.
-- Returns the senders; an empty array when no outbox has the event for this receiver, which stays a dead letter then; null
-- when it is no dead letter.
-- not_processed: the operator has checked that an event older than the inbox remembers has had no effect.
create or replace function operator.retry_dead_letter(
  of_receiver text, of_event text, of_actor text, not_processed boolean default false) returns text[]
language plpgsql security definer set search_path = pg_temp as $$
declare
  is_dead_letter boolean;
  senders text[];
  sender text;
begin
  if not exists (select from operator.kinds k where k.receiver = of_receiver) then
    raise exception 'no receiver of events: %', of_receiver;
  end if;
  execute format('select true from %I.dead_letters where event_id = $1 for update', of_receiver)
    into is_dead_letter using of_event;
  if is_dead_letter is null then return null; end if;
  senders := operator.senders_of(of_receiver, of_event);
  if senders = '{}' then return senders; end if;
  foreach sender in array senders loop
    execute format('update %I.outbox set sent_at = null, claimed_until = null, confirmed_at = null,
      confirmed_by = array_remove(confirmed_by, $2), dead_lettered_by = array_remove(dead_lettered_by, $2)
      where id = $1', sender) using of_event, of_receiver;
  end loop;
  execute format('delete from %I.dead_letters where event_id = $1', of_receiver) using of_event;
  if not_processed then
    execute format('insert into %I.inbox_exceptions (event_id) values ($1) on conflict do nothing', of_receiver) using of_event;
  end if;
  perform operator.write_audit_log(of_actor, case when not_processed then 'requeue as not processed' else 'requeue' end,
    of_receiver || ' ' || of_event);
  return senders;
end $$;

-- Signing is paused while the chain shows transactions of the hot wallet that this database does not know. An operator who
-- has found out what they are accepts them here: the next nonce, the last known transaction, or the UTXO that was spent.
-- Returns whether there was something to accept.
create or replace function operator.accept_history(of_chain text, up_to text, of_actor text) returns boolean
language plpgsql security definer set search_path = pg_temp as $$
declare
  accepted int;
begin
  if of_chain = 'bitcoin' then
    update payouts.utxos set reversed_at = now(), updated_at = now()
    where chain = of_chain and outpoint = up_to and state = 'available' and reversed_at is null;
  elsif of_chain = 'solana' then
    update payouts.wallet_histories h set signature = up_to, updated_at = now()
    from payouts.wallets w
    where h.chain = of_chain and w.chain = h.chain and w.address = h.address and w.role = 'hot'
      and h.signature is distinct from up_to;
  else
    update payouts.wallets set next_nonce = up_to::bigint
    where chain = of_chain and role = 'hot' and next_nonce < up_to::bigint;
  end if;
  get diagnostics accepted = row_count;
  if accepted > 0 then perform operator.write_audit_log(of_actor, 'accept history', of_chain || ' ' || up_to); end if;
  return accepted > 0;
end $$;

-- The scanner reads the chain again from this height, see invoices' rescan-chain.ts. Returns null when the scanner has not
-- reached it.
create or replace function operator.rescan(of_chain text, from_height int, of_actor text) returns bigint
language plpgsql security definer set search_path = pg_temp as $$
declare
  asked bigint;
begin
  insert into invoices.rescans (chain, from_height, next_height, asked_at)
  select c.chain, from_height, from_height, now() from invoices.cursors c
  where c.chain = of_chain and c.height >= from_height
  returning id into asked;
  if asked is not null then
    perform operator.write_audit_log(of_actor, 'rescan', of_chain || ' from ' || from_height);
  end if;
  return asked;
end $$;

-- Ends the rescans of a chain that have not ended. Returns their number.
create or replace function operator.stop_rescans(of_chain text, of_actor text) returns int
language plpgsql security definer set search_path = pg_temp as $$
declare
  stopped int;
begin
  update invoices.rescans set ended_at = now(), failure = 'stopped by ' || of_actor
  where chain = of_chain and ended_at is null;
  get diagnostics stopped = row_count;
  if stopped > 0 then perform operator.write_audit_log(of_actor, 'stop rescans', of_chain); end if;
  return stopped;
end $$;

-- Makes a person an operator of the dashboard, or takes that away. Returns whether it was one before; null when there is no such person.
-- Nobody has proven to own an e-mail address: who becomes an operator is named with an account that the person is in.
create or replace function operator.set_operator(of_email text, of_account text, is_operator boolean, of_actor text) returns boolean
language plpgsql security definer set search_path = pg_temp as $$
declare
  person text;
  was_operator boolean;
begin
  select p.id, exists (select from gateway.operators o where o.person_id = p.id) into person, was_operator
  from gateway.people p where p.email = of_email and (not is_operator or exists (
    select from gateway.memberships m join gateway.accounts a on a.id = m.account_id
    where m.person_id = p.id and of_account in (a.id, a.name))) for update;
  if person is null then return null; end if;
  if is_operator and not was_operator then
    insert into gateway.operators (person_id) values (person);
  elsif not is_operator then
    delete from gateway.operators where person_id = person;
  end if;
  if is_operator <> was_operator then
    perform operator.write_audit_log(of_actor, case when is_operator then 'operator.granted' else 'operator.revoked' end, person);
  end if;
  return was_operator;
end $$;

-- What the console of operators, which the gateway serves, shows of dead letters: not what is in them.
create or replace function operator.listed_dead_letters(of_most int)
returns table (service text, event_id text, kind text, failure text, failed_at timestamptz, senders text[])
language sql stable security definer set search_path = pg_temp as $$
  select d.service, d.event_id, d.kind, left(d.failure, 500), d.failed_at, operator.senders_of(d.service, d.event_id)
  from (
    select 'invoices' as service, event_id, kind, failure, failed_at from invoices.dead_letters
    union all select 'payouts', event_id, kind, failure, failed_at from payouts.dead_letters
    union all select 'ledger', event_id, kind, failure, failed_at from ledger.dead_letters
    union all select 'webhooks', event_id, kind, failure, failed_at from webhooks.dead_letters
    union all select 'auditor', event_id, kind, failure, failed_at from auditor.dead_letters) d
  order by d.failed_at, d.event_id limit of_most;
$$;

-- The same as retry_dead_letter without its last argument: only an operator with a role of the database can say that an event
-- has had no effect.
create or replace function operator.retry_from_console(of_receiver text, of_event text, of_actor text, of_source text) returns text[]
language plpgsql security definer set search_path = pg_temp as $$
begin
  perform set_config('quittance.source', coalesce(of_source, ''), true);
  return operator.retry_dead_letter(of_receiver, of_event, of_actor, false);
end $$;

revoke execute on all functions in schema operator from public;
grant execute on all functions in schema operator to quittance_operator;
-- Nothing else of this schema is the gateway's.
grant usage on schema operator to quittance_gateway;
grant execute on function operator.listed_dead_letters(int), operator.retry_from_console(text, text, text, text) to quittance_gateway;
