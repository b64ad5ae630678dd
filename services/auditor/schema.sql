-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function auditor.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=auditor, pg_temp
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
grant execute to quittance_auditor

--- schema auditor
grant usage to quittance_auditor
grant usage to quittance_operator

--- sequence auditor.checks_seq_seq
as bigint start 1 increment 1
grant usage to quittance_auditor

--- sequence auditor.halts_seq_seq
as bigint start 1 increment 1
grant usage to quittance_auditor

--- sequence auditor.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_auditor

--- sequence auditor.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_auditor

--- sequence auditor.operator_funds_seq_seq
as bigint start 1 increment 1
grant usage to quittance_auditor

--- sequence auditor.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_auditor

--- table auditor.address_rounds
chain text collate "C" not null
after_address text collate "C" not null
constraint address_rounds_pkey PRIMARY KEY (chain)
grant delete, insert, select, update to quittance_auditor
grant select (chain, after_address) to quittance_operator

--- table auditor.balance_snapshots
account_id text collate "C" not null
asset text collate "C" not null
bucket text collate "C" not null
amount numeric(78,0) not null
constraint balance_snapshots_pkey PRIMARY KEY (account_id, asset, bucket)
grant delete, insert, select, truncate, update to quittance_auditor
grant select (account_id, asset, bucket, amount) to quittance_operator

--- table auditor.balance_snapshots_until
only_row boolean not null default true
transfer_seq bigint not null
constraint balance_snapshots_until_is_one CHECK (only_row)
constraint balance_snapshots_until_pkey PRIMARY KEY (only_row)
grant delete, insert, select, update to quittance_auditor
grant select (only_row, transfer_seq) to quittance_operator

--- table auditor.checks
seq bigint not null generated as identity
scope text not null
began_at timestamp with time zone not null
ended_at timestamp with time zone not null
was_right boolean not null
watermarks jsonb not null
chains jsonb not null
constraint checks_pkey PRIMARY KEY (seq)
constraint checks_scope_known CHECK ((scope = ANY (ARRAY['whole'::text, 'recent'::text, 'again'::text])))
grant delete, insert, select, update to quittance_auditor
grant select (seq, scope, began_at, ended_at, was_right, watermarks, chains) to quittance_operator

--- table auditor.custody_snapshots
asset text collate "C" not null
amount numeric(78,0) not null
constraint custody_snapshots_pkey PRIMARY KEY (asset)
grant delete, insert, select, truncate, update to quittance_auditor
grant select (asset, amount) to quittance_operator

--- table auditor.custody_snapshots_until
only_row boolean not null default true
transfer_seq bigint not null
constraint custody_snapshots_until_is_one CHECK (only_row)
constraint custody_snapshots_until_pkey PRIMARY KEY (only_row)
grant delete, insert, select, update to quittance_auditor
grant select (only_row, transfer_seq) to quittance_operator

--- table auditor.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_auditor
grant select to quittance_operator
grant select (event_id, kind, envelope, failure, failed_at) to quittance_operator

--- table auditor.discrepancies
invariant text not null
subject text not null
asset text
what text not null
chain text
pauses_payouts boolean not null
first_seen_at timestamp with time zone not null
last_seen_at timestamp with time zone not null
times integer not null default 1
accepted_at timestamp with time zone
accepted_amount numeric
constraint discrepancies_pkey PRIMARY KEY (invariant, subject)
constraint discrepancies_times_positive CHECK ((times > 0))
grant delete, insert, select, update to quittance_auditor
grant delete, insert, update to quittance_operator
grant select (invariant, subject, asset, what, chain, pauses_payouts, first_seen_at, last_seen_at, times, accepted_at, accepted_amount) to quittance_operator

--- table auditor.halts
seq bigint not null generated as identity
asset text not null
discrepancies jsonb not null
halted_at timestamp with time zone not null default now()
resumed_at timestamp with time zone
notified_at timestamp with time zone not null default now()
forced boolean not null default false
constraint halts_forced_when_resumed CHECK (((NOT forced) OR (resumed_at IS NOT NULL)))
constraint halts_pkey PRIMARY KEY (seq)
CREATE UNIQUE INDEX halts_one_of_an_asset ON auditor.halts USING btree (asset) WHERE (resumed_at IS NULL)
grant delete, insert, select, update to quittance_auditor
grant insert (asset, discrepancies, halted_at) to quittance_operator
grant select (seq, asset, discrepancies, halted_at, resumed_at, notified_at, forced) to quittance_operator
grant update (discrepancies, resumed_at, notified_at, forced) to quittance_operator

--- table auditor.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_auditor
grant select to quittance_operator
grant select (event_id, received_at) to quittance_operator

--- table auditor.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_auditor
grant select (event_id, at) to quittance_operator

--- table auditor.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_auditor
grant select (is_only, before_id, since) to quittance_operator

--- table auditor.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_auditor
grant select (name, holder, token, expires_at) to quittance_operator

--- table auditor.migrations
id integer not null default nextval('auditor.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_auditor
grant select (id, name, batch, migration_time) to quittance_operator

--- table auditor.migrations_lock
index integer not null default nextval('auditor.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table auditor.operator_funds
seq bigint not null generated as identity
asset text collate "C" not null
amount numeric(78,0) not null
cause text not null
noted_at timestamp with time zone not null
constraint operator_funds_cause_known CHECK ((cause = ANY (ARRAY['measured'::text, 'arrived'::text, 'withdrawn'::text])))
constraint operator_funds_pkey PRIMARY KEY (seq)
CREATE UNIQUE INDEX operator_funds_measured_once ON auditor.operator_funds USING btree (asset) WHERE (cause = 'measured'::text)
grant insert, select to quittance_auditor
grant insert (asset, amount, cause, noted_at) to quittance_operator
grant select (seq, asset, amount, cause, noted_at) to quittance_operator

--- table auditor.outbox
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
CREATE INDEX outbox_unconfirmed ON auditor.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON auditor.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_auditor
grant select to quittance_operator
grant insert (id, kind, payload, request_id, created_at) to quittance_operator
grant select (seq, id, kind, payload, request_id, created_at, claimed_until, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by) to quittance_operator

--- table auditor.passed_checks
asset text collate "C" not null
began_at timestamp with time zone not null
constraint passed_checks_pkey PRIMARY KEY (asset)
grant insert, select, update to quittance_auditor
grant select (asset, began_at) to quittance_operator

--- table auditor.sweep_remains
tx_hash text collate "C" not null
asset text collate "C" not null
amount numeric(78,0) not null
constraint sweep_remains_pkey PRIMARY KEY (tx_hash)
grant insert, select to quittance_auditor
grant select (tx_hash, asset, amount) to quittance_operator
