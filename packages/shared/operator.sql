-- What the role of the operator's command may do: read what its commands show, and call what they change things with. Run
-- after the migrations of all services, as often as they are: it makes anew what it grants and replaces its functions.
create schema if not exists operator;
revoke all on schema operator from public;
grant usage on schema operator to quittance_operator;

-- What an older release gave it is taken away first.
revoke all on all tables in schema gateway, invoices, payouts, ledger, webhooks, auditor, operator from quittance_operator;
revoke quittance_auditor from quittance_operator;
drop function if exists operator.requeue(text, text, text, text);
drop function if exists operator.requeue(text, text, text);

-- What operators did with their command; written in the transaction that does it.
create table if not exists operator.deeds (
  seq bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  deed text not null,
  subject text not null
);
grant select on operator.deeds to quittance_operator;

grant usage on schema gateway, invoices, payouts, ledger, webhooks, auditor to quittance_operator;

-- The books, as the auditor reads them: an asset is resumed after one more look at every row.
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
  gateway.accounts,
  invoices.invoices, invoices.deposits, invoices.sightings, invoices.cursors, invoices.blocks, invoices.leases,
  invoices.rescans,
  payouts.payouts, payouts.payments, payouts.wallets, payouts.wallet_histories, payouts.coins, payouts.leases,
  payouts.halted_assets,
  ledger.holds, ledger.transfers, ledger.entries, ledger.unresolved, ledger.reversals,
  webhooks.endpoints, webhooks.deliveries, webhooks.attempts, webhooks.endpoint_queues
to quittance_operator;
-- Not the signed bytes, not the secrets.
grant select (id, chain, wallet, nonce, family, attempt, purpose, asset, amount, fee_paid, tx_hash, state, broadcasts,
  first_broadcast_at, last_broadcast_at, block_height, block_hash, final_at, missing_since,
  created_at, updated_at)
  on payouts.transactions to quittance_operator;
grant select (account_id, sequence, id, kind, created_at, resource_id, version) on webhooks.events to quittance_operator;
grant select on
  invoices.outbox, invoices.inbox, invoices.parked, payouts.outbox, payouts.inbox, payouts.parked,
  ledger.outbox, ledger.inbox, ledger.parked, webhooks.outbox, webhooks.inbox, webhooks.parked,
  auditor.outbox, auditor.inbox, auditor.parked
to quittance_operator;

-- To halt an asset's payouts and resume them, with what is accepted of its books and the word of it to payouts: see
-- auditor's halt-payouts.ts and resume-payouts.ts.
grant insert (asset, breaches, halted_at), update (resumed_at, forced, announced_at) on auditor.halts to quittance_operator;
grant insert, update, delete on auditor.breaches to quittance_operator;
grant insert (id, kind, payload, request_id, created_at) on auditor.outbox to quittance_operator;

-- To ask for a delivery again, as its merchant may: its endpoint's queue is locked first, see webhooks' store/endpoint-queues.ts.
grant update (state, due_at, round_start, asked_for) on webhooks.deliveries to quittance_operator;
grant update (new_due_at, retry_due_at) on webhooks.endpoint_queues to quittance_operator;

create or replace function operator.note(of_actor text, of_deed text, of_subject text) returns void
language sql security definer set search_path = pg_temp as $$
  insert into operator.deeds (actor, deed, subject) values (of_actor, of_deed, of_subject);
$$;

-- Who says which kind of event, and who must have it, as this release has it: filled by operator-role.ts.
create table if not exists operator.kinds (
  kind text not null,
  sender text not null,
  receiver text not null,
  primary key (kind, receiver)
);
grant select on operator.kinds to quittance_operator;

-- Whose outbox has this event, as one of a kind that is its sender's to say and this receiver's to hear. No service but
-- the sender itself writes there.
create or replace function operator.senders_of(of_receiver text, of_event text) returns text[]
language sql stable set search_path = pg_temp as $$
  with said as (
    select 'invoices' as sender, kind from invoices.outbox where id = of_event
    union all select 'payouts', kind from payouts.outbox where id = of_event
    union all select 'ledger', kind from ledger.outbox where id = of_event
    union all select 'auditor', kind from auditor.outbox where id = of_event)
  select coalesce(array_agg(s.sender), '{}')
  from said s join operator.kinds k on k.sender = s.sender and k.kind = s.kind
  where k.receiver = of_receiver;
$$;

-- A parked event goes back to where it came from: its sender sends once more what its own outbox says, to all that must
-- have it, and who has it already drops it. It is parked again when it cannot be taken in this time either.
-- Of the parked row its id alone counts. The role of the service that parked it can write anything there: were its kind,
-- sender or payload believed, that service could speak as another, and a forged payment be credited. What no sender has
-- stays parked. Answers who sends it again: nobody when no outbox has it for this receiver, null when it is not parked.
-- not_taken_in: the operator has looked, and an event older than the inbox remembers has had no effect.
create or replace function operator.requeue(
  of_receiver text, of_event text, of_actor text, not_taken_in boolean default false) returns text[]
language plpgsql security definer set search_path = pg_temp as $$
declare
  is_parked boolean;
  senders text[];
  sender text;
begin
  if not exists (select from operator.kinds k where k.receiver = of_receiver) then
    raise exception 'no receiver of events: %', of_receiver;
  end if;
  execute format('select true from %I.parked where event_id = $1 for update', of_receiver) into is_parked using of_event;
  if is_parked is null then return null; end if;
  senders := operator.senders_of(of_receiver, of_event);
  if senders = '{}' then return senders; end if;
  foreach sender in array senders loop
    execute format('update %I.outbox set sent_at = null, claimed_until = null, confirmed_at = null,
      confirmed_by = array_remove(confirmed_by, $2), parked_by = array_remove(parked_by, $2)
      where id = $1', sender) using of_event, of_receiver;
  end loop;
  execute format('delete from %I.parked where event_id = $1', of_receiver) using of_event;
  if not_taken_in then
    execute format('insert into %I.inbox_admitted (event_id) values ($1) on conflict do nothing', of_receiver) using of_event;
  end if;
  perform operator.note(of_actor, case when not_taken_in then 'requeue as not taken in' else 'requeue' end,
    of_receiver || ' ' || of_event);
  return senders;
end $$;

-- The engine of a chain signs nothing while the chain shows what this database does not know of its own wallet. Who has
-- found out what that was accepts it here: the nonce that comes next, the transaction up to which all is known, the coin
-- that somebody has spent. Answers whether there was anything to accept.
create or replace function operator.accept_history(of_chain text, up_to text, of_actor text) returns boolean
language plpgsql security definer set search_path = pg_temp as $$
declare
  accepted int;
begin
  if of_chain = 'bitcoin' then
    update payouts.coins set reversed_at = now(), updated_at = now()
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
  if accepted > 0 then perform operator.note(of_actor, 'accept history', of_chain || ' ' || up_to); end if;
  return accepted > 0;
end $$;

-- Whoever follows the chain reads it again from there, see invoices' rescan-chain.ts. Answers null when the chain is not
-- followed yet, or not as far.
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
    perform operator.note(of_actor, 'rescan', of_chain || ' from ' || from_height);
  end if;
  return asked;
end $$;

-- Ends what was asked to be read again on a chain and has not ended; answers how many that were.
create or replace function operator.stop_rescans(of_chain text, of_actor text) returns int
language plpgsql security definer set search_path = pg_temp as $$
declare
  stopped int;
begin
  update invoices.rescans set ended_at = now(), failure = 'stopped by ' || of_actor
  where chain = of_chain and ended_at is null;
  get diagnostics stopped = row_count;
  if stopped > 0 then perform operator.note(of_actor, 'stop rescans', of_chain); end if;
  return stopped;
end $$;

revoke execute on all functions in schema operator from public;
grant execute on all functions in schema operator to quittance_operator;
