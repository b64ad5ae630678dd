-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function invoices.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=invoices, pg_temp
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
grant execute to quittance_invoices

--- schema invoices
grant usage to quittance_auditor
grant usage to quittance_invoices
grant usage to quittance_operator

--- sequence invoices.bitcoin_address_blocks
as bigint start 0 increment 1
grant usage to quittance_invoices

--- sequence invoices.ethereum_address_blocks
as bigint start 0 increment 1
grant usage to quittance_invoices

--- sequence invoices.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_invoices

--- sequence invoices.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_invoices

--- sequence invoices.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_invoices

--- sequence invoices.rescans_id_seq
as bigint start 1 increment 1
grant usage to quittance_invoices

--- table invoices.address_pool
chain text collate "C" not null
derivation_index integer not null
address text collate "C" not null
constraint address_pool_no_two_alike UNIQUE (chain, address)
constraint address_pool_once PRIMARY KEY (chain, derivation_index)
grant delete, insert, select, update to quittance_invoices

--- table invoices.address_series
chain text collate "C" not null
next_index integer not null
constraint address_series_not_negative CHECK ((next_index >= 0))
constraint address_series_pkey PRIMARY KEY (chain)
grant insert, select, update to quittance_invoices

--- table invoices.addresses
chain text collate "C" not null
address text collate "C" not null
invoice_id text collate "C" not null
derivation_index integer not null
given_height integer
balance_check_at timestamp with time zone
balance_height integer
balance_known_until timestamp with time zone
balance_before numeric(78,0)
given_xid xid8 not null default pg_current_xact_id()
constraint addresses_given_once PRIMARY KEY (chain, address)
CREATE INDEX addresses_balance_due ON invoices.addresses USING btree (chain, balance_check_at) WHERE (balance_check_at IS NOT NULL)
CREATE INDEX addresses_by_xid ON invoices.addresses USING btree (chain, given_xid)
grant insert, select, update to quittance_invoices
grant select (chain, address, invoice_id) to quittance_auditor
grant select (chain, address, invoice_id) to quittance_operator

--- table invoices.asset_choices
invoice_id text collate "C" not null
account_id text collate "C" not null
asset text not null
assets text[] not null
currency text not null
amount_fiat numeric(78,0) not null
chosen_at timestamp with time zone not null
constraint asset_choices_amount_fiat_positive CHECK ((amount_fiat > (0)::numeric))
constraint asset_choices_asset_offered CHECK ((asset = ANY (assets)))
constraint asset_choices_pkey PRIMARY KEY (invoice_id)
grant insert, select to quittance_invoices
grant select to quittance_auditor
grant select (invoice_id, account_id, asset, assets, currency, amount_fiat, chosen_at) to quittance_operator

--- table invoices.blocks
chain text collate "C" not null
height integer not null
hash text not null
"time" timestamp with time zone not null
constraint blocks_pkey PRIMARY KEY (chain, height)
grant delete, insert, select to quittance_invoices
grant select to quittance_operator

--- table invoices.contradictions
chain text collate "C" not null
block_hash text not null
block_height integer not null
outpoint text collate "C" not null
deposit_id text
invoice_id text collate "C"
found_at timestamp with time zone not null
check_at timestamp with time zone not null
ended_at timestamp with time zone
outcome text
constraint contradictions_end_with_an_outcome CHECK (((ended_at IS NULL) = (outcome IS NULL)))
constraint contradictions_of_deposits_name_their_invoice CHECK (((deposit_id IS NULL) = (invoice_id IS NULL)))
constraint contradictions_once PRIMARY KEY (chain, block_hash, outpoint)
constraint contradictions_outcome_known CHECK ((outcome = ANY (ARRAY['earlier'::text, 'later'::text, 'reorganised'::text])))
CREATE INDEX contradictions_of_invoice ON invoices.contradictions USING btree (invoice_id) WHERE (ended_at IS NULL)
CREATE INDEX contradictions_open ON invoices.contradictions USING btree (chain, check_at) WHERE (ended_at IS NULL)
grant insert, select, update to quittance_invoices

--- table invoices.cursors
chain text collate "C" not null
height integer not null
hash text not null
"time" timestamp with time zone not null
known_until timestamp with time zone not null
synced_at timestamp with time zone
balances_height integer
constraint cursors_pkey PRIMARY KEY (chain)
grant insert, select, update to quittance_invoices
grant select to quittance_auditor
grant select to quittance_operator
grant select (chain, height, hash, "time", known_until, synced_at, balances_height) to quittance_operator

--- table invoices.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_invoices
grant select to quittance_operator
grant select (event_id, kind) to quittance_auditor
grant select (event_id, kind) to quittance_operator

--- table invoices.deposits
id text collate "C" not null
chain text collate "C" not null
outpoint text collate "C" not null
invoice_id text collate "C" not null
asset text not null
address text not null
derivation_index integer not null
amount numeric(78,0) not null
tx_hash text
output_index integer not null
block_height integer not null
block_hash text not null
first_seen_at timestamp with time zone not null
min_confirmations integer not null
state text not null
dropped_height integer
due_height integer
confirmed_at timestamp with time zone
settled_at timestamp with time zone
disposition text
credited_at timestamp with time zone
reversed_at timestamp with time zone
late_reported boolean not null default false
reversal_reported text
constraint deposits_amount_positive CHECK ((amount > (0)::numeric))
constraint deposits_disposition_known CHECK ((disposition = ANY (ARRAY['credit'::text, 'unresolved'::text])))
constraint deposits_dropped_height_when_away CHECK (((state = ANY (ARRAY['dropped'::text, 'missing'::text])) = (dropped_height IS NOT NULL)))
constraint deposits_pkey PRIMARY KEY (id)
constraint deposits_settled_when_settled CHECK (((state = ANY (ARRAY['settled'::text, 'missing'::text, 'reversed'::text])) = (settled_at IS NOT NULL)))
constraint deposits_settled_with_disposition CHECK (((settled_at IS NULL) = (disposition IS NULL)))
constraint deposits_state_known CHECK ((state = ANY (ARRAY['seen'::text, 'settled'::text, 'dropped'::text, 'missing'::text, 'reversed'::text])))
CREATE INDEX deposits_away ON invoices.deposits USING btree (chain, outpoint) WHERE (state <> ALL (ARRAY['seen'::text, 'settled'::text]))
CREATE INDEX deposits_by_block ON invoices.deposits USING btree (chain, block_height)
CREATE INDEX deposits_by_tx_hash ON invoices.deposits USING btree (tx_hash) WHERE (tx_hash IS NOT NULL)
CREATE INDEX deposits_due ON invoices.deposits USING btree (chain, due_height) WHERE (due_height IS NOT NULL)
CREATE INDEX deposits_of_invoice_by_amount ON invoices.deposits USING btree (invoice_id, asset, amount, id)
CREATE INDEX deposits_of_invoice_by_time ON invoices.deposits USING btree (invoice_id, first_seen_at, id)
CREATE UNIQUE INDEX deposits_outpoint_once ON invoices.deposits USING btree (chain, outpoint) WHERE (state = ANY (ARRAY['seen'::text, 'settled'::text]))
grant insert, select, update to quittance_invoices
grant select to quittance_auditor
grant select to quittance_operator
grant select (id, chain, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash, output_index, block_height, block_hash, first_seen_at, min_confirmations, state, dropped_height, due_height, confirmed_at, settled_at, disposition, credited_at, reversed_at, late_reported, reversal_reported) to quittance_operator

--- table invoices.idempotency_keys
account_id text collate "C" not null
key text collate "C" not null
body_hash text not null
resource_id text not null
status integer
body json
created_at timestamp with time zone not null default now()
constraint idempotency_keys_once PRIMARY KEY (account_id, key)
CREATE INDEX idempotency_keys_by_age ON invoices.idempotency_keys USING btree (created_at)
grant delete, insert, select, update to quittance_invoices

--- table invoices.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_invoices
grant select to quittance_auditor
grant select to quittance_operator
grant select (event_id, received_at) to quittance_operator

--- table invoices.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_invoices

--- table invoices.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_invoices

--- table invoices.invoice_settings
account_id text collate "C" not null
currency text not null
expires_in integer
tolerance_bps integer
shop_name text
shop_logo text
language text
redirect_hosts text[] not null default '{}'::text[]
frame_ancestors text[] not null default '{}'::text[]
constraint invoice_settings_currency_known CHECK ((currency = ANY (ARRAY['USD'::text, 'EUR'::text, 'GBP'::text, 'CHF'::text, 'JPY'::text, 'CAD'::text, 'AUD'::text])))
constraint invoice_settings_expires_in_within_limits CHECK (((expires_in >= 1) AND (expires_in <= 120)))
constraint invoice_settings_frame_ancestors_within_limits CHECK ((cardinality(frame_ancestors) <= 10))
constraint invoice_settings_language_known CHECK ((language = ANY (ARRAY['en'::text, 'de'::text, 'es'::text, 'fr'::text, 'it'::text, 'pt'::text, 'ru'::text, 'zh'::text, 'ja'::text, 'ar'::text])))
constraint invoice_settings_pkey PRIMARY KEY (account_id)
constraint invoice_settings_redirect_hosts_within_limits CHECK ((cardinality(redirect_hosts) <= 20))
constraint invoice_settings_shop_logo_is_a_picture CHECK (((length(shop_logo) <= 8192) AND (shop_logo ~ '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$'::text)))
constraint invoice_settings_shop_name_within_limits CHECK (((char_length(shop_name) >= 1) AND (char_length(shop_name) <= 60)))
constraint invoice_settings_tolerance_within_limits CHECK (((tolerance_bps >= 0) AND (tolerance_bps <= 1000)))
grant insert, select, update to quittance_invoices

--- table invoices.invoices
id text collate "C" not null
account_id text collate "C" not null
external_id text
asset text not null
chain text not null
amount_fiat numeric(78,0) not null
usd_rate numeric not null
quote jsonb not null
amount_due numeric(78,0) not null
tolerance_bps integer not null default 0
min_confirmations integer not null
dust numeric(78,0) not null
status text not null default 'pending'::text
pending_amount numeric(78,0) not null default 0
paid_amount numeric(78,0) not null default 0
created_at timestamp with time zone not null
expires_at timestamp with time zone
paid_at timestamp with time zone
closed_at timestamp with time zone
succeed_url text
timeout_url text
address text not null
derivation_index integer not null
version integer not null default 1
reported_events text[] not null default '{}'::text[]
extended_ms bigint not null default 0
extended_until timestamp with time zone
reversed_amount numeric(78,0) not null default 0
description text
metadata json not null default '{}'::json
cancelled_at timestamp with time zone
currency text not null default 'USD'::text
fiat_rate jsonb
payment_link_id text collate "C"
constraint invoices_amount_due_positive CHECK ((amount_due > (0)::numeric))
constraint invoices_amount_fiat_positive CHECK ((amount_fiat > (0)::numeric))
constraint invoices_cancelled_when_over CHECK (((cancelled_at IS NULL) OR ((expires_at IS NOT NULL) AND (expires_at <= cancelled_at))))
constraint invoices_closed_when_expired CHECK (((status <> 'expired'::text) OR (closed_at IS NOT NULL)))
constraint invoices_currency_known CHECK ((currency = ANY (ARRAY['USD'::text, 'EUR'::text, 'GBP'::text, 'CHF'::text, 'JPY'::text, 'CAD'::text, 'AUD'::text])))
constraint invoices_dust_not_negative CHECK ((dust >= (0)::numeric))
constraint invoices_extended_at_most_a_day CHECK (((extended_ms >= 0) AND (extended_ms <= 86400000)))
constraint invoices_fiat_rate_of_other_currencies CHECK (((currency = 'USD'::text) = (fiat_rate IS NULL)))
constraint invoices_min_confirmations_positive CHECK ((min_confirmations > 0))
constraint invoices_paid_amount_not_negative CHECK ((paid_amount >= (0)::numeric))
constraint invoices_paid_at_when_paid CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL)))
constraint invoices_pending_amount_not_negative CHECK ((pending_amount >= (0)::numeric))
constraint invoices_pkey PRIMARY KEY (id)
constraint invoices_reversed_amount_not_negative CHECK ((reversed_amount >= (0)::numeric))
constraint invoices_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'confirmed'::text, 'partially_paid'::text, 'paid'::text, 'expired'::text])))
constraint invoices_tolerance_below_all CHECK (((tolerance_bps >= 0) AND (tolerance_bps <= 9999)))
constraint invoices_usd_rate_positive CHECK ((usd_rate > (0)::numeric))
CREATE INDEX invoices_by_expiry ON invoices.invoices USING btree (chain, expires_at) WHERE ((closed_at IS NULL) AND (status = ANY (ARRAY['pending'::text, 'partially_paid'::text, 'confirmed'::text])))
CREATE INDEX invoices_of_account_by_amount ON invoices.invoices USING btree (account_id, amount_fiat, id)
CREATE INDEX invoices_of_account_by_external_id_prefix ON invoices.invoices USING btree (account_id, external_id text_pattern_ops, id) WHERE (external_id IS NOT NULL)
CREATE INDEX invoices_of_account_by_paid_at ON invoices.invoices USING btree (account_id, paid_at, id) WHERE (paid_at IS NOT NULL)
CREATE INDEX invoices_of_account_by_status ON invoices.invoices USING btree (account_id, status, id)
CREATE INDEX invoices_of_account_with_prices ON invoices.invoices USING btree (account_id, id) INCLUDE (asset, status, currency, amount_fiat)
CREATE INDEX invoices_of_payment_link ON invoices.invoices USING btree (account_id, payment_link_id, id) WHERE (payment_link_id IS NOT NULL)
CREATE INDEX invoices_open_of_payment_link ON invoices.invoices USING btree (payment_link_id) WHERE ((payment_link_id IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'partially_paid'::text, 'confirmed'::text])))
with (fillfactor=90)
grant insert, select, update to quittance_invoices
grant select to quittance_auditor
grant select to quittance_operator
grant select (id, account_id, external_id, asset, chain, amount_fiat, usd_rate, quote, amount_due, tolerance_bps, min_confirmations, dust, status, pending_amount, paid_amount, created_at, expires_at, paid_at, closed_at, succeed_url, timeout_url, address, derivation_index, version, reported_events, extended_ms, extended_until, reversed_amount, description, metadata, cancelled_at, currency, fiat_rate, payment_link_id) to quittance_operator

--- table invoices.key_comparisons
chain text collate "C" not null
first_address text collate "C" not null
named_address text not null
compared_at timestamp with time zone not null
constraint key_comparisons_once PRIMARY KEY (chain, first_address)
grant insert, select, update to quittance_invoices

--- table invoices.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_invoices
grant select to quittance_operator

--- table invoices.mempool_payments
chain text collate "C" not null
outpoint text collate "C" not null
invoice_id text collate "C" not null
asset text not null
address text not null
amount numeric(78,0) not null
tx_hash text not null
output_index integer not null
first_seen_at timestamp with time zone not null
dropped_at timestamp with time zone
drop_reported_at timestamp with time zone
constraint mempool_payments_amount_positive CHECK ((amount > (0)::numeric))
constraint mempool_payments_once PRIMARY KEY (chain, outpoint)
CREATE INDEX mempool_payments_by_tx_hash ON invoices.mempool_payments USING btree (tx_hash)
CREATE INDEX mempool_payments_of_invoice_by_amount ON invoices.mempool_payments USING btree (invoice_id, asset, amount, outpoint)
CREATE INDEX mempool_payments_of_invoice_by_time ON invoices.mempool_payments USING btree (invoice_id, first_seen_at, outpoint)
CREATE INDEX mempool_payments_open ON invoices.mempool_payments USING btree (chain) WHERE (dropped_at IS NULL)
grant delete, insert, select, update to quittance_invoices
grant select to quittance_operator

--- table invoices.migrations
id integer not null default nextval('invoices.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_invoices

--- table invoices.migrations_lock
index integer not null default nextval('invoices.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table invoices.outbox
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
CREATE INDEX outbox_unconfirmed ON invoices.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON invoices.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_invoices
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, id, kind, payload, request_id, created_at, claimed_until, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by) to quittance_operator

--- table invoices.payment_links
id text collate "C" not null
account_id text collate "C" not null
description text not null
metadata json not null default '{}'::json
currency text not null
amount_fiat numeric(78,0)
amount_min numeric(78,0)
amount_max numeric(78,0)
asset text
assets text[]
expires_in integer
succeed_url text
timeout_url text
valid_until timestamp with time zone
created_at timestamp with time zone not null
deactivated_at timestamp with time zone
max_open integer not null default 100
constraint payment_links_amount_fiat_positive CHECK ((amount_fiat > (0)::numeric))
constraint payment_links_amount_max_positive CHECK ((amount_max > (0)::numeric))
constraint payment_links_amount_min_positive CHECK ((amount_min > (0)::numeric))
constraint payment_links_assets_not_empty CHECK ((cardinality(assets) > 0))
constraint payment_links_currency_known CHECK ((currency = ANY (ARRAY['USD'::text, 'EUR'::text, 'GBP'::text, 'CHF'::text, 'JPY'::text, 'CAD'::text, 'AUD'::text])))
constraint payment_links_expires_in_positive CHECK ((expires_in > 0))
constraint payment_links_fixed_or_limited CHECK (((amount_fiat IS NULL) OR ((amount_min IS NULL) AND (amount_max IS NULL))))
constraint payment_links_limits_in_order CHECK ((amount_min <= amount_max))
constraint payment_links_max_open_positive CHECK ((max_open > 0))
constraint payment_links_one_or_several_assets CHECK (((asset IS NULL) OR (assets IS NULL)))
constraint payment_links_pkey PRIMARY KEY (id)
CREATE INDEX payment_links_of_account ON invoices.payment_links USING btree (account_id, id)
grant insert, select, update to quittance_invoices

--- table invoices.refunds
id text collate "C" not null
invoice_id text collate "C" not null
status text not null
amount numeric(78,0) not null
share numeric(78,0) not null
payout_id text
version integer not null
created_at timestamp with time zone not null
constraint refunds_amount_positive CHECK ((amount > (0)::numeric))
constraint refunds_pkey PRIMARY KEY (id)
constraint refunds_share_positive CHECK ((share > (0)::numeric))
constraint refunds_status_known CHECK ((status = ANY (ARRAY['claimable'::text, 'pending'::text, 'completed'::text, 'failed'::text, 'expired'::text, 'cancelled'::text])))
CREATE INDEX refunds_of_invoice ON invoices.refunds USING btree (invoice_id, created_at)
grant insert, select, update to quittance_invoices

--- table invoices.rescans
id bigint not null generated as identity
chain text collate "C" not null
from_height integer not null
next_height integer not null
until_height integer
first_height integer
last_hash text
tries integer not null default 0
found integer not null default 0
asked_at timestamp with time zone not null
ended_at timestamp with time zone
failure text
balances_requested_to text collate "C" not null default ''::text
constraint rescans_from_a_height CHECK ((from_height >= 0))
constraint rescans_pkey PRIMARY KEY (id)
CREATE INDEX rescans_open ON invoices.rescans USING btree (chain, id) WHERE (ended_at IS NULL)
grant select to quittance_operator
grant select, update to quittance_invoices

--- table invoices.spends
chain text collate "C" not null
tx_hash text not null
address text collate "C" not null
amount numeric(78,0) not null
block_height integer not null
constraint spends_once PRIMARY KEY (chain, address, tx_hash)
CREATE INDEX spends_by_block ON invoices.spends USING btree (chain, block_height)
grant delete, insert, select to quittance_invoices

--- table invoices.unchosen_invoices
id text collate "C" not null
account_id text collate "C" not null
external_id text
description text
metadata json not null default '{}'::json
currency text not null
amount_fiat numeric(78,0) not null
assets text[] not null
tolerance_bps integer not null
status text not null default 'pending'::text
created_at timestamp with time zone not null
expires_at timestamp with time zone
cancelled_at timestamp with time zone
succeed_url text
timeout_url text
payment_link_id text collate "C"
version integer not null default 1
constraint unchosen_invoices_amount_fiat_positive CHECK ((amount_fiat > (0)::numeric))
constraint unchosen_invoices_assets_not_empty CHECK ((cardinality(assets) > 0))
constraint unchosen_invoices_cancelled_when_over CHECK (((cancelled_at IS NULL) OR ((status = 'expired'::text) AND (expires_at <= cancelled_at))))
constraint unchosen_invoices_currency_known CHECK ((currency = ANY (ARRAY['USD'::text, 'EUR'::text, 'GBP'::text, 'CHF'::text, 'JPY'::text, 'CAD'::text, 'AUD'::text])))
constraint unchosen_invoices_end_when_expired CHECK (((status <> 'expired'::text) OR (expires_at IS NOT NULL)))
constraint unchosen_invoices_pkey PRIMARY KEY (id)
constraint unchosen_invoices_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'expired'::text])))
constraint unchosen_invoices_tolerance_below_all CHECK (((tolerance_bps >= 0) AND (tolerance_bps <= 9999)))
CREATE INDEX unchosen_invoices_by_expiry ON invoices.unchosen_invoices USING btree (expires_at, id) WHERE (status = 'pending'::text)
CREATE INDEX unchosen_invoices_of_account ON invoices.unchosen_invoices USING btree (account_id, id)
CREATE INDEX unchosen_invoices_of_account_by_amount ON invoices.unchosen_invoices USING btree (account_id, amount_fiat, id)
CREATE INDEX unchosen_invoices_of_account_by_external_id_prefix ON invoices.unchosen_invoices USING btree (account_id, external_id text_pattern_ops, id) WHERE (external_id IS NOT NULL)
CREATE INDEX unchosen_invoices_of_account_by_status ON invoices.unchosen_invoices USING btree (account_id, status, id)
CREATE INDEX unchosen_invoices_of_link ON invoices.unchosen_invoices USING btree (account_id, payment_link_id, id) WHERE (payment_link_id IS NOT NULL)
CREATE INDEX unchosen_invoices_open_of_payment_link ON invoices.unchosen_invoices USING btree (payment_link_id) WHERE ((payment_link_id IS NOT NULL) AND (status = 'pending'::text))
grant delete, insert, select, update to quittance_invoices
grant select to quittance_operator
grant select (id, account_id, currency, amount_fiat, assets, status, expires_at) to quittance_auditor
grant select (id, account_id, currency, amount_fiat, assets, status, expires_at) to quittance_operator
