-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function webhooks.keep_pruned_events(of_account text, receivers bigint[], first_kept bigint, last_pruned bigint)
returns void language sql set search_path=webhooks, pg_temp, TimeZone=UTC
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

--- function webhooks.prune_deliveries_of_deleted(of_endpoint bigint, at_most integer)
returns integer language plpgsql security definer set search_path=webhooks, pg_temp
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
end
grant execute to quittance_webhooks

--- function webhooks.prune_endpoints(at_most integer)
returns integer language plpgsql security definer set search_path=webhooks, pg_temp
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
end
grant execute to quittance_webhooks

--- function webhooks.prune_events(of_account text, at_most integer)
returns integer language plpgsql security definer set search_path=webhooks, pg_temp
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
end
grant execute to quittance_webhooks

--- function webhooks.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=webhooks, pg_temp
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
    end
grant execute to quittance_webhooks

--- schema webhooks
grant usage to quittance_auditor
grant usage to quittance_operator
grant usage to quittance_webhooks

--- sequence webhooks.endpoint_generations
as bigint start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.endpoints_key_seq
as bigint start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.mail_recipients_key_seq
as bigint start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.mails_key_seq
as bigint start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_webhooks

--- sequence webhooks.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_webhooks

--- table webhooks.accounts
account_id text not null
last_sequence bigint not null
pruned_through bigint not null default 0
replayed_on date
replayed integer not null default 0
constraint accounts_forgotten_was_given_out CHECK (((pruned_through >= 0) AND (pruned_through <= last_sequence)))
constraint accounts_pkey PRIMARY KEY (account_id)
constraint accounts_replayed_not_negative CHECK ((replayed >= 0))
with (fillfactor=70)
grant insert, select to quittance_webhooks
grant select to quittance_auditor
grant select (account_id, last_sequence, pruned_through, replayed_on, replayed) to quittance_operator
grant update (last_sequence, replayed_on, replayed) to quittance_webhooks

--- table webhooks.archiving
is_only boolean not null default true
since timestamp with time zone not null default now()
constraint archiving_is_one_row CHECK (is_only)
constraint archiving_pkey PRIMARY KEY (is_only)
grant select to quittance_operator

--- table webhooks.attempts
endpoint_key bigint not null
sequence bigint not null
number integer not null
started_at timestamp with time zone not null
ms integer not null
status integer
failure text
answer text
constraint attempts_answered_or_failed CHECK (((status IS NULL) <> (failure IS NULL)))
constraint attempts_number_positive CHECK ((number > 0))
constraint attempts_pkey PRIMARY KEY (endpoint_key, sequence, number)
grant insert, select to quittance_webhooks
grant select to quittance_operator

--- table webhooks.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_webhooks
grant select to quittance_operator
grant select (event_id, kind) to quittance_auditor
grant select (event_id, kind) to quittance_operator

--- table webhooks.deliveries
endpoint_key bigint not null
sequence bigint not null
state text not null
attempts integer not null default 0
due_at timestamp with time zone not null
claim uuid
claimed_until timestamp with time zone
cycle_start integer not null default 0
manual boolean not null default false
retry boolean not null generated always as ((manual OR (attempts > 0)))
constraint deliveries_claimed_while_sent CHECK (((state = 'sending'::text) = ((claim IS NOT NULL) AND (claimed_until IS NOT NULL))))
constraint deliveries_cycle_started CHECK (((cycle_start >= 0) AND (cycle_start <= attempts)))
constraint deliveries_event_and_endpoint_once PRIMARY KEY (endpoint_key, sequence)
constraint deliveries_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'delivered'::text, 'exhausted'::text, 'cancelled'::text])))
CREATE INDEX deliveries_by_state ON webhooks.deliveries USING btree (endpoint_key, state, sequence) WHERE (state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'exhausted'::text, 'cancelled'::text]))
CREATE INDEX deliveries_cancelled_untried ON webhooks.deliveries USING btree (endpoint_key) WHERE ((state = 'cancelled'::text) AND (attempts = 0))
CREATE INDEX deliveries_sending ON webhooks.deliveries USING btree (endpoint_key) WHERE (state = 'sending'::text)
CREATE INDEX deliveries_waiting ON webhooks.deliveries USING btree (endpoint_key, retry, due_at, sequence) WHERE (state = 'waiting'::text)
with (fillfactor=80, autovacuum_vacuum_scale_factor=0.05)
grant insert, select to quittance_webhooks
grant select to quittance_auditor
grant select to quittance_operator
grant select (endpoint_key, sequence, state, attempts, due_at, claim, claimed_until, cycle_start, manual, retry) to quittance_operator
grant update (state, attempts, due_at, claim, claimed_until, cycle_start, manual) to quittance_webhooks
grant update (state, due_at, cycle_start, manual) to quittance_operator

--- table webhooks.endpoint_queues
endpoint_key bigint not null
new_due_at timestamp with time zone
consecutive_failures integer not null default 0
failing_since timestamp with time zone
retry_due_at timestamp with time zone
has_succeeded boolean not null default false
generation bigint not null default nextval('webhooks.endpoint_generations'::regclass)
last_failed_at timestamp with time zone
open_until timestamp with time zone
missed_since timestamp with time zone
constraint endpoint_queues_endpoint_key_fkey FOREIGN KEY (endpoint_key) REFERENCES webhooks.endpoints(key)
constraint endpoint_queues_pkey PRIMARY KEY (endpoint_key)
CREATE INDEX endpoint_queues_healthy_due ON webhooks.endpoint_queues USING btree (new_due_at) WHERE (has_succeeded AND (consecutive_failures = 0) AND (open_until IS NULL))
CREATE INDEX endpoint_queues_new_due ON webhooks.endpoint_queues USING btree (new_due_at)
CREATE INDEX endpoint_queues_retry_due ON webhooks.endpoint_queues USING btree (retry_due_at)
with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05)
grant delete, insert, select to quittance_webhooks
grant select to quittance_auditor
grant select to quittance_operator
grant select (endpoint_key, new_due_at, consecutive_failures, failing_since, retry_due_at, has_succeeded, generation, last_failed_at, open_until, missed_since) to quittance_operator
grant update (new_due_at, consecutive_failures, failing_since, retry_due_at, has_succeeded, generation, last_failed_at, open_until, missed_since) to quittance_webhooks
grant update (new_due_at, retry_due_at) to quittance_operator

--- table webhooks.endpoint_secrets
endpoint_key bigint not null
encrypted_secret bytea not null
created_at timestamp with time zone not null
ends_at timestamp with time zone
constraint endpoint_secrets_endpoint_key_fkey FOREIGN KEY (endpoint_key) REFERENCES webhooks.endpoints(key)
constraint endpoint_secrets_pkey PRIMARY KEY (endpoint_key, created_at)
CREATE INDEX endpoint_secrets_ending ON webhooks.endpoint_secrets USING btree (ends_at) WHERE (ends_at IS NOT NULL)
grant delete, insert, select to quittance_webhooks
grant update (encrypted_secret, ends_at) to quittance_webhooks

--- table webhooks.endpoints
key bigint not null generated as identity
id text not null
account_id text not null
url text not null
event_types text[] not null
description text
enabled boolean not null default true
disabled_reason text
created_at timestamp with time zone not null
deleted_at timestamp with time zone
subscribed_since timestamp with time zone
disabled_at timestamp with time zone
tests bigint not null default 0
has_deliveries_to_cancel boolean not null default false
failing_since timestamp with time zone
missed_since timestamp with time zone
constraint endpoints_id_once UNIQUE (id)
constraint endpoints_pkey PRIMARY KEY (key)
constraint endpoints_url_length CHECK ((length(url) <= 2048))
CREATE INDEX endpoints_cancelling ON webhooks.endpoints USING btree (key) WHERE has_deliveries_to_cancel
CREATE INDEX endpoints_deleted ON webhooks.endpoints USING btree (deleted_at) WHERE (deleted_at IS NOT NULL)
CREATE INDEX endpoints_of_account ON webhooks.endpoints USING btree (account_id, key) WHERE (deleted_at IS NULL)
grant insert, select to quittance_webhooks
grant select to quittance_operator
grant select (key, account_id, event_types, enabled, created_at, deleted_at, subscribed_since, has_deliveries_to_cancel) to quittance_auditor
grant select (key, account_id, event_types, enabled, created_at, deleted_at, subscribed_since, has_deliveries_to_cancel) to quittance_operator
grant update (url, event_types, description, enabled, disabled_reason, deleted_at, subscribed_since, disabled_at, tests, has_deliveries_to_cancel, failing_since, missed_since) to quittance_webhooks

--- table webhooks.events
account_id text not null
sequence bigint not null
id text not null
kind text not null
created_at timestamp with time zone not null
resource_id text not null
version bigint not null
data json not null
constraint events_id_once UNIQUE (id)
constraint events_sequence_once PRIMARY KEY (account_id, sequence)
constraint events_sequence_positive CHECK ((sequence > 0))
CREATE INDEX events_by_time ON webhooks.events USING btree (account_id, created_at, sequence)
CREATE INDEX events_of_kind ON webhooks.events USING btree (account_id, kind, sequence)
grant insert, select to quittance_webhooks
grant select (account_id, sequence, id, kind, created_at, resource_id, version) to quittance_operator
grant select (account_id, sequence, kind, created_at) to quittance_auditor

--- table webhooks.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_webhooks
grant select to quittance_auditor
grant select to quittance_operator
grant select (event_id, received_at) to quittance_operator

--- table webhooks.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_webhooks

--- table webhooks.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_webhooks

--- table webhooks.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_webhooks

--- table webhooks.mail_codes
account_id text not null
address text not null
requested_at timestamp with time zone not null
CREATE INDEX mail_codes_of_account ON webhooks.mail_codes USING btree (account_id, requested_at)
CREATE INDEX mail_codes_of_address ON webhooks.mail_codes USING btree (address, requested_at)
grant delete, insert, select to quittance_webhooks

--- table webhooks.mail_notifications
recipient_key bigint not null
event_key text not null
kind text not null
topic text not null
happened_at timestamp with time zone not null
facts jsonb not null
mail_key bigint
constraint mail_notifications_event_and_recipient_once PRIMARY KEY (recipient_key, event_key)
constraint mail_notifications_mail_key_fkey FOREIGN KEY (mail_key) REFERENCES webhooks.mails(key) ON DELETE CASCADE
constraint mail_notifications_recipient_key_fkey FOREIGN KEY (recipient_key) REFERENCES webhooks.mail_recipients(key) ON DELETE CASCADE
CREATE INDEX mail_notifications_happened ON webhooks.mail_notifications USING btree (happened_at)
CREATE INDEX mail_notifications_of_mail ON webhooks.mail_notifications USING btree (mail_key)
CREATE INDEX mail_notifications_waiting ON webhooks.mail_notifications USING btree (recipient_key, topic, happened_at) WHERE (mail_key IS NULL)
grant delete, insert, select, update to quittance_webhooks

--- table webhooks.mail_recipients
key bigint not null generated as identity
id text not null
account_id text not null
address text not null
kinds text[] not null
created_at timestamp with time zone not null
code_hash bytea
code_expires_at timestamp with time zone
wrong_codes integer not null default 0
confirmed_at timestamp with time zone
unsubscribed_at timestamp with time zone
paused_at timestamp with time zone
paused_reason text
stop_token text not null
refusals integer not null default 0
last_sent_at timestamp with time zone
last_failure text
last_failed_at timestamp with time zone
due_at timestamp with time zone
claim text
claimed_until timestamp with time zone
constraint mail_recipients_address_length CHECK ((length(address) <= 254))
constraint mail_recipients_id_once UNIQUE (id)
constraint mail_recipients_pkey PRIMARY KEY (key)
constraint mail_recipients_stop_token_once UNIQUE (stop_token)
CREATE UNIQUE INDEX mail_recipients_address_once ON webhooks.mail_recipients USING btree (account_id, lower(address))
CREATE INDEX mail_recipients_due ON webhooks.mail_recipients USING btree (due_at) WHERE (due_at IS NOT NULL)
with (fillfactor=70)
grant delete, insert, select, update to quittance_webhooks

--- table webhooks.mail_stops
account_id text not null
address text not null
stopped_at timestamp with time zone not null
constraint mail_stops_address_once PRIMARY KEY (account_id, address)
grant delete, insert, select, update to quittance_webhooks

--- table webhooks.mails
key bigint not null generated as identity
recipient_key bigint not null
id text not null
type text not null
topic text
state text not null
attempts integer not null default 0
created_at timestamp with time zone not null
due_at timestamp with time zone not null
ended_at timestamp with time zone
failure text
constraint mails_id_once UNIQUE (id)
constraint mails_pkey PRIMARY KEY (key)
constraint mails_recipient_key_fkey FOREIGN KEY (recipient_key) REFERENCES webhooks.mail_recipients(key) ON DELETE CASCADE
constraint mails_state_known CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'failed'::text, 'cancelled'::text])))
constraint mails_type_known CHECK ((type = ANY (ARRAY['confirmation'::text, 'test'::text, 'notification'::text, 'summary'::text])))
CREATE INDEX mails_created ON webhooks.mails USING btree (created_at)
CREATE INDEX mails_of_recipient ON webhooks.mails USING btree (recipient_key, type, created_at)
CREATE INDEX mails_waiting ON webhooks.mails USING btree (recipient_key) WHERE (state = 'waiting'::text)
grant delete, insert, select, update to quittance_webhooks

--- table webhooks.migrations
id integer not null default nextval('webhooks.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_webhooks

--- table webhooks.migrations_lock
index integer not null default nextval('webhooks.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table webhooks.outbox
seq bigint not null generated as identity
id text not null
kind text not null
payload jsonb not null
request_id text
created_at timestamp with time zone not null default now()
claimed_until timestamp with time zone
sent_at timestamp with time zone
sends integer not null default 0
confirmed_at timestamp with time zone
confirmed_by text[] not null default '{}'::text[]
dead_lettered_by text[] not null default '{}'::text[]
constraint outbox_id_unique UNIQUE (id)
constraint outbox_pkey PRIMARY KEY (seq)
CREATE INDEX outbox_unconfirmed ON webhooks.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON webhooks.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_webhooks
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, id, kind, payload, request_id, created_at, claimed_until, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by) to quittance_operator

--- table webhooks.pruned_events
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_once PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition by LIST (month_of_year)
grant select (month_of_year, month) to quittance_operator

--- table webhooks.pruned_events_01
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_01_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('1')

--- table webhooks.pruned_events_02
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_02_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('2')

--- table webhooks.pruned_events_03
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_03_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('3')

--- table webhooks.pruned_events_04
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_04_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('4')

--- table webhooks.pruned_events_05
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_05_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('5')

--- table webhooks.pruned_events_06
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_06_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('6')

--- table webhooks.pruned_events_07
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_07_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('7')

--- table webhooks.pruned_events_08
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_08_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('8')

--- table webhooks.pruned_events_09
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_09_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('9')

--- table webhooks.pruned_events_10
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_10_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('10')

--- table webhooks.pruned_events_11
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_11_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('11')

--- table webhooks.pruned_events_12
month_of_year smallint not null
month date not null
account_id text collate "C" not null
sequence bigint not null
line text not null
constraint pruned_events_12_pkey PRIMARY KEY (month_of_year, account_id, sequence)
constraint pruned_events_in_their_month CHECK (((EXTRACT(day FROM month) = (1)::numeric) AND (EXTRACT(month FROM month) = (month_of_year)::numeric)))
constraint pruned_events_one_line CHECK ((line !~ '[\n\r]'::text))
partition of webhooks.pruned_events FOR VALUES IN ('12')
