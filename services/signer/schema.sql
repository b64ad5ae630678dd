-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function signer.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=signer, pg_temp
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
grant execute to quittance_signer

--- schema signer
grant usage to quittance_signer

--- sequence signer.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_signer

--- sequence signer.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_signer

--- sequence signer.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_signer

--- sequence signer.signatures_id_seq
as bigint start 1 increment 1
grant usage to quittance_signer

--- table signer.cleared_payouts
payout_id text collate "C" not null
account_id text collate "C" not null
asset text collate "C" not null
amount numeric(78,0) not null
destination text collate "C" not null
cleared_at timestamp with time zone not null
constraint cleared_payouts_amount_positive CHECK ((amount > (0)::numeric))
constraint cleared_payouts_pkey PRIMARY KEY (payout_id)
CREATE INDEX cleared_payouts_of_account ON signer.cleared_payouts USING btree (account_id, asset, cleared_at)
CREATE INDEX cleared_payouts_of_asset ON signer.cleared_payouts USING btree (asset, cleared_at)
grant insert, select to quittance_signer

--- table signer.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_signer

--- table signer.former_destinations
payout_id text collate "C" not null
destination text collate "C" not null
constraint former_destinations_pkey PRIMARY KEY (payout_id)
grant select to quittance_signer

--- table signer.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_signer

--- table signer.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_signer

--- table signer.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_signer

--- table signer.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_signer

--- table signer.migrations
id integer not null default nextval('signer.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_signer

--- table signer.migrations_lock
index integer not null default nextval('signer.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table signer.non_inclusions
signature bigint not null
proven_at timestamp with time zone not null
constraint non_inclusions_pkey PRIMARY KEY (signature)
constraint non_inclusions_signature_fkey FOREIGN KEY (signature) REFERENCES signer.signatures(id)
grant insert, select to quittance_signer

--- table signer.outbox
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
CREATE INDEX outbox_unconfirmed ON signer.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON signer.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_signer

--- table signer.signatures
id bigint not null generated as identity
chain text collate "C" not null
digest text collate "C" not null
terms jsonb not null
tx_hash text collate "C" not null
max_cost numeric(78,0) not null
wallet text collate "C"
nonce bigint
valid_to_height bigint
final_slot bigint
created_at timestamp with time zone not null
signed jsonb
constraint signatures_max_cost_not_negative CHECK ((max_cost >= (0)::numeric))
constraint signatures_order_once UNIQUE (chain, digest)
constraint signatures_pkey PRIMARY KEY (id)
constraint signatures_validity_is_whole CHECK (((valid_to_height IS NULL) = (final_slot IS NULL)))
constraint signatures_wallet_has_nonce CHECK (((wallet IS NULL) = (nonce IS NULL)))
CREATE INDEX signatures_of_chain ON signer.signatures USING btree (chain, created_at)
grant insert, select to quittance_signer

--- table signer.signed_payouts
payout_id text collate "C" not null
signature bigint not null
constraint signed_payouts_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES signer.cleared_payouts(payout_id)
constraint signed_payouts_pkey PRIMARY KEY (payout_id, signature)
constraint signed_payouts_signature_fkey FOREIGN KEY (signature) REFERENCES signer.signatures(id)
grant insert, select to quittance_signer

--- table signer.spent_outpoints
outpoint text collate "C" not null
signature bigint not null
amount numeric(78,0) not null
constraint spent_outpoints_pkey PRIMARY KEY (outpoint, signature)
constraint spent_outpoints_signature_fkey FOREIGN KEY (signature) REFERENCES signer.signatures(id)
CREATE INDEX spent_outpoints_of_signature ON signer.spent_outpoints USING btree (signature)
grant insert, select to quittance_signer

--- table signer.wallets
chain text collate "C" not null
hot_address text collate "C" not null
created_at timestamp with time zone not null default now()
first_deposit text collate "C"
constraint wallets_one_a_chain PRIMARY KEY (chain)
grant insert, select to quittance_signer
