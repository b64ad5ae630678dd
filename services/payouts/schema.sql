-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function payouts.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=payouts, pg_temp
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
grant execute to quittance_payouts

--- schema payouts
grant usage to quittance_auditor
grant usage to quittance_operator
grant usage to quittance_payouts

--- sequence payouts.change_indexes
as bigint start 0 increment 1
grant usage to quittance_payouts

--- sequence payouts.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_payouts

--- sequence payouts.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_payouts

--- sequence payouts.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_payouts

--- sequence payouts.payout_numbers
as bigint start 1 increment 1
grant usage to quittance_payouts

--- sequence payouts.transactions_id_seq
as bigint start 1 increment 1
grant usage to quittance_payouts

--- table payouts.automatic_payouts
account_id text not null
asset text not null
address text not null
schedule text not null
threshold numeric(78,0)
enabled boolean not null
next_run_at timestamp(3) with time zone not null
last_run_at timestamp(3) with time zone
last_payout_id bigint
last_error text
created_at timestamp(3) with time zone not null default now()
updated_at timestamp(3) with time zone not null default now()
told_error text
failures integer not null default 0
assertion_id text collate "C"
constraint automatic_payouts_failures_not_negative CHECK ((failures >= 0))
constraint automatic_payouts_once PRIMARY KEY (account_id, asset)
constraint automatic_payouts_schedule_known CHECK ((schedule = ANY (ARRAY['daily'::text, 'threshold'::text])))
constraint automatic_payouts_threshold_is_given CHECK (((schedule <> 'threshold'::text) OR (threshold IS NOT NULL)))
constraint automatic_payouts_threshold_positive CHECK ((threshold > (0)::numeric))
CREATE INDEX automatic_payouts_due ON payouts.automatic_payouts USING btree (next_run_at) WHERE enabled
grant delete, insert, select, update to quittance_payouts

--- table payouts.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_payouts
grant select to quittance_operator
grant select (event_id, kind) to quittance_auditor
grant select (event_id, kind) to quittance_operator

--- table payouts.halted_assets
asset text not null
halt bigint not null
halted_at timestamp with time zone not null default now()
resumed_at timestamp with time zone
constraint halted_assets_pkey PRIMARY KEY (asset)
grant insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (asset, halt, halted_at, resumed_at) to quittance_operator

--- table payouts.hot_address_cursors
chain text not null
height bigint not null
updated_at timestamp with time zone not null default now()
constraint hot_address_cursors_height_not_negative CHECK ((height >= 0))
constraint hot_address_cursors_pkey PRIMARY KEY (chain)
grant insert, select, update to quittance_payouts

--- table payouts.idempotency_keys
account_id text not null
key text not null
body_hash text not null
resource_id text not null
status integer
body json
created_at timestamp with time zone not null default now()
constraint idempotency_keys_once PRIMARY KEY (account_id, key)
CREATE INDEX idempotency_keys_running ON payouts.idempotency_keys USING btree (resource_id) WHERE (status IS NULL)
grant delete, insert, select, update to quittance_payouts

--- table payouts.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (event_id, received_at) to quittance_operator

--- table payouts.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_payouts

--- table payouts.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_payouts

--- table payouts.known_hot_wallets
chain text not null
address text not null
created_at timestamp with time zone not null default now()
constraint known_hot_wallets_one_a_chain PRIMARY KEY (chain)
grant select to quittance_payouts

--- table payouts.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_payouts
grant select to quittance_operator

--- table payouts.migrations
id integer not null default nextval('payouts.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_payouts

--- table payouts.migrations_lock
index integer not null default nextval('payouts.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table payouts.outbox
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
CREATE INDEX outbox_unconfirmed ON payouts.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON payouts.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, id, kind, payload, request_id, created_at, claimed_until, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by) to quittance_operator

--- table payouts.payments
payout_id bigint not null
replacement_group bigint not null
address text not null
amount numeric(78,0) not null
output_index integer
constraint payments_amount_positive CHECK ((amount > (0)::numeric))
constraint payments_group_exists FOREIGN KEY (replacement_group) REFERENCES payouts.transactions(id)
constraint payments_payout_once PRIMARY KEY (payout_id)
CREATE INDEX payments_of_group ON payouts.payments USING btree (replacement_group)
grant insert, select to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (payout_id, replacement_group, address, amount, output_index) to quittance_operator

--- table payouts.payout_addresses
id text collate "C" not null
account_id text not null
chain text not null
address text not null
label text not null
created_at timestamp(3) with time zone not null default now()
usable_at timestamp(3) with time zone not null
constraint payout_addresses_label_within_limit CHECK ((char_length(label) <= 255))
constraint payout_addresses_once UNIQUE (account_id, chain, address)
constraint payout_addresses_pkey PRIMARY KEY (id)
CREATE INDEX payout_addresses_of_account ON payouts.payout_addresses USING btree (account_id, created_at, id)
grant delete, insert, select, update to quittance_payouts

--- table payouts.payout_batches
id text not null
account_id text not null
mode text not null
lines integer not null
unpaid_lines json not null default '[]'::json
created_at timestamp(3) with time zone not null default now()
finished_at timestamp(3) with time zone
available jsonb not null default '{}'::jsonb
assertion_id text collate "C"
constraint payout_batches_lines_within_limit CHECK (((lines >= 1) AND (lines <= 500)))
constraint payout_batches_mode_known CHECK ((mode = ANY (ARRAY['each'::text, 'all_or_nothing'::text])))
constraint payout_batches_pkey PRIMARY KEY (id)
CREATE UNIQUE INDEX payout_batches_assertion_once ON payouts.payout_batches USING btree (assertion_id) WHERE (assertion_id IS NOT NULL)
CREATE INDEX payout_batches_of_account ON payouts.payout_batches USING btree (account_id, created_at, id)
CREATE INDEX payout_batches_unfinished ON payouts.payout_batches USING btree (created_at) WHERE (finished_at IS NULL)
grant insert, select, update to quittance_payouts

--- table payouts.payout_number_key
only_row boolean not null default true
key bytea not null
constraint payout_number_key_is_long CHECK ((length(key) = 32))
constraint payout_number_key_is_one CHECK (only_row)
constraint payout_number_key_pkey PRIMARY KEY (only_row)
grant select to quittance_payouts

--- table payouts.payout_policies
account_id text not null
policy jsonb not null
next_policy jsonb
next_at timestamp(3) with time zone
updated_at timestamp(3) with time zone not null default now()
constraint payout_policies_next_has_time CHECK (((next_policy IS NULL) = (next_at IS NULL)))
constraint payout_policies_pkey PRIMARY KEY (account_id)
grant insert, select, update to quittance_payouts

--- table payouts.payouts
seq bigint not null default nextval('payouts.payout_numbers'::regclass)
id bigint not null
account_id text not null
asset text not null
amount numeric(78,0) not null
network_fee numeric(78,0) not null
address text not null
min_confirmations integer not null
status text not null default 'requested'::text
tx_hash text
failed_reason text
version integer not null default 0
created_at timestamp(3) with time zone not null default now()
updated_at timestamp with time zone not null default now()
completed_at timestamp(3) with time zone
returns_deposit text
external_id text
metadata json not null default '{}'::json
usd_rate numeric
takes_all boolean not null default false
cancel_requested_at timestamp(3) with time zone
batch_id text
batch_line integer
automatic boolean not null default false
refund_id text
invoice_id text
assertion_id text collate "C"
made_by text
approvals_needed smallint
approvals json not null default '[]'::json
approval_expires_at timestamp(3) with time zone
approved_at timestamp(3) with time zone
signing_waits_until timestamp with time zone
signing_refused_because text
constraint payouts_amount_positive CHECK ((amount > (0)::numeric))
constraint payouts_approval_expires CHECK (((approvals_needed IS NULL) = (approval_expires_at IS NULL)))
constraint payouts_approvals_within_limit CHECK (((approvals_needed >= 1) AND (approvals_needed <= 2)))
constraint payouts_batch_exists FOREIGN KEY (batch_id) REFERENCES payouts.payout_batches(id)
constraint payouts_batch_has_line CHECK (((batch_id IS NULL) = (batch_line IS NULL)))
constraint payouts_external_id_within_limit CHECK ((char_length(external_id) <= 255))
constraint payouts_failed_says_why CHECK (((status <> 'failed'::text) OR (failed_reason IS NOT NULL)))
constraint payouts_id_is_exact_in_json CHECK (((id > 0) AND (id < '9007199254740992'::bigint)))
constraint payouts_id_unique UNIQUE (id)
constraint payouts_min_confirmations_positive CHECK ((min_confirmations > 0))
constraint payouts_mined_names_its_transaction CHECK (((status <> 'mined'::text) OR ((tx_hash IS NOT NULL) AND (completed_at IS NOT NULL))))
constraint payouts_network_fee_not_negative CHECK ((network_fee >= (0)::numeric))
constraint payouts_pkey PRIMARY KEY (seq)
constraint payouts_status_known CHECK ((status = ANY (ARRAY['requested'::text, 'awaiting_approval'::text, 'reserved'::text, 'planned'::text, 'signed'::text, 'broadcast'::text, 'mined'::text, 'failed'::text, 'refused'::text, 'voided'::text])))
constraint payouts_usd_rate_positive CHECK ((usd_rate > (0)::numeric))
constraint payouts_waits_for_approvals CHECK (((status <> 'awaiting_approval'::text) OR (approvals_needed IS NOT NULL)))
CREATE INDEX payouts_address ON payouts.payouts USING btree (account_id, address)
CREATE UNIQUE INDEX payouts_assertion_once ON payouts.payouts USING btree (assertion_id) WHERE (assertion_id IS NOT NULL)
CREATE INDEX payouts_awaiting_approval ON payouts.payouts USING btree (asset, seq) WHERE (status = 'awaiting_approval'::text)
CREATE UNIQUE INDEX payouts_batch_line_once ON payouts.payouts USING btree (batch_id, batch_line) WHERE (batch_id IS NOT NULL)
CREATE INDEX payouts_cancel_requested ON payouts.payouts USING btree (asset, seq) WHERE ((status = 'reserved'::text) AND (cancel_requested_at IS NOT NULL))
CREATE INDEX payouts_external_id ON payouts.payouts USING btree (account_id, external_id) WHERE (external_id IS NOT NULL)
CREATE INDEX payouts_invoice ON payouts.payouts USING btree (account_id, invoice_id) WHERE (invoice_id IS NOT NULL)
CREATE INDEX payouts_of_asset ON payouts.payouts USING btree (account_id, asset, created_at DESC, seq DESC) WHERE (status <> ALL (ARRAY['requested'::text, 'refused'::text, 'voided'::text]))
CREATE INDEX payouts_of_status ON payouts.payouts USING btree (account_id, status, created_at DESC, seq DESC) WHERE (status = ANY (ARRAY['awaiting_approval'::text, 'reserved'::text, 'planned'::text, 'signed'::text, 'broadcast'::text, 'failed'::text]))
CREATE UNIQUE INDEX payouts_one_of_refund ON payouts.payouts USING btree (refund_id) WHERE ((refund_id IS NOT NULL) AND (status <> ALL (ARRAY['failed'::text, 'refused'::text, 'voided'::text])))
CREATE INDEX payouts_planned ON payouts.payouts USING btree (asset, seq) WHERE (status = 'planned'::text)
CREATE INDEX payouts_refund ON payouts.payouts USING btree (account_id, refund_id) WHERE (refund_id IS NOT NULL)
CREATE INDEX payouts_requested ON payouts.payouts USING btree (created_at) WHERE (status = 'requested'::text)
CREATE INDEX payouts_reserved ON payouts.payouts USING btree (asset, seq) WHERE (status = 'reserved'::text)
CREATE INDEX payouts_returns_of_deposit ON payouts.payouts USING btree (returns_deposit) WHERE (returns_deposit IS NOT NULL)
CREATE INDEX payouts_shown ON payouts.payouts USING btree (account_id, created_at DESC, seq DESC) WHERE (status <> ALL (ARRAY['requested'::text, 'refused'::text, 'voided'::text]))
CREATE INDEX payouts_tx_hash ON payouts.payouts USING btree (account_id, tx_hash) WHERE (tx_hash IS NOT NULL)
grant insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status, tx_hash, failed_reason, version, created_at, updated_at, completed_at, returns_deposit, external_id, metadata, usd_rate, takes_all, cancel_requested_at, batch_id, batch_line, automatic, refund_id, invoice_id, assertion_id, made_by, approvals_needed, approvals, approval_expires_at, approved_at, signing_waits_until, signing_refused_because) to quittance_operator

--- table payouts.refunded_invoices
invoice_id text collate "C" not null
account_id text not null
asset text not null
paid_amount numeric(78,0) not null
updated_at timestamp with time zone not null default now()
constraint refunded_invoices_paid_amount_not_negative CHECK ((paid_amount >= (0)::numeric))
constraint refunded_invoices_pkey PRIMARY KEY (invoice_id)
grant insert, select, update to quittance_payouts

--- table payouts.refunds
id text collate "C" not null
account_id text not null
invoice_id text
deposit_id text
asset text not null
share numeric(78,0) not null
amount numeric(78,0) not null
requested text not null
rate text not null
state text not null
claim_hash bytea
expires_at timestamp(3) with time zone
payout_id bigint
external_id text
metadata json not null default '{}'::json
version integer not null default 1
created_at timestamp(3) with time zone not null
updated_at timestamp with time zone not null default now()
rates_now json
unfunded_since timestamp(3) with time zone
currency text
worth_cents numeric(78,0)
assertion_id text collate "C"
constraint refunds_amount_positive CHECK ((amount > (0)::numeric))
constraint refunds_claim_hash_is_sha256 CHECK ((length(claim_hash) = 32))
constraint refunds_claim_hash_once UNIQUE (claim_hash)
constraint refunds_claimed_by_link CHECK (((claim_hash IS NOT NULL) OR (state <> ALL (ARRAY['claimable'::text, 'expired'::text, 'cancelled'::text]))))
constraint refunds_external_id_within_limit CHECK ((char_length(external_id) <= 255))
constraint refunds_links_expire CHECK (((claim_hash IS NULL) = (expires_at IS NULL)))
constraint refunds_of_invoice_or_deposit CHECK (((invoice_id IS NULL) <> (deposit_id IS NULL)))
constraint refunds_paid_by_a_payout CHECK (((state <> ALL (ARRAY['pending'::text, 'completed'::text])) OR (payout_id IS NOT NULL)))
constraint refunds_pkey PRIMARY KEY (id)
constraint refunds_rate_known CHECK ((rate = ANY (ARRAY['then'::text, 'now'::text])))
constraint refunds_rates_of_now CHECK (((rates_now IS NULL) OR (rate = 'now'::text)))
constraint refunds_share_positive CHECK ((share > (0)::numeric))
constraint refunds_state_known CHECK ((state = ANY (ARRAY['claimable'::text, 'pending'::text, 'completed'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'voided'::text])))
constraint refunds_worth_has_currency CHECK (((worth_cents IS NULL) = (currency IS NULL)))
constraint refunds_worth_not_negative CHECK ((worth_cents >= (0)::numeric))
CREATE UNIQUE INDEX refunds_assertion_once ON payouts.refunds USING btree (assertion_id) WHERE (assertion_id IS NOT NULL)
CREATE INDEX refunds_claimable ON payouts.refunds USING btree (expires_at) WHERE (state = 'claimable'::text)
CREATE INDEX refunds_external_id ON payouts.refunds USING btree (account_id, external_id) WHERE (external_id IS NOT NULL)
CREATE INDEX refunds_of_asset ON payouts.refunds USING btree (account_id, asset, created_at DESC, id DESC) WHERE (state <> 'voided'::text)
CREATE INDEX refunds_of_deposit ON payouts.refunds USING btree (deposit_id) WHERE (deposit_id IS NOT NULL)
CREATE INDEX refunds_of_invoice ON payouts.refunds USING btree (invoice_id) WHERE (invoice_id IS NOT NULL)
CREATE INDEX refunds_of_state ON payouts.refunds USING btree (account_id, state, created_at DESC, id DESC) WHERE (state = ANY (ARRAY['claimable'::text, 'pending'::text, 'failed'::text, 'expired'::text, 'cancelled'::text]))
CREATE INDEX refunds_pending ON payouts.refunds USING btree (payout_id) WHERE (state = 'pending'::text)
CREATE INDEX refunds_promised ON payouts.refunds USING btree (account_id, asset) WHERE (state = 'claimable'::text)
CREATE INDEX refunds_shown ON payouts.refunds USING btree (account_id, created_at DESC, id DESC) WHERE (state <> 'voided'::text)
grant insert, select, update to quittance_payouts
grant select (id, invoice_id, asset, share, state, payout_id) to quittance_auditor
grant select (id, invoice_id, asset, share, state, payout_id) to quittance_operator

--- table payouts.request_proofs
assertion_id text collate "C" not null
assertion text not null
method text not null
path text not null
body bytea not null
created_at timestamp(3) with time zone not null default now()
constraint request_proofs_pkey PRIMARY KEY (assertion_id)
grant insert, select to quittance_payouts

--- table payouts.returned_deposits
deposit_id text collate "C" not null
locked_at timestamp with time zone not null default now()
constraint returned_deposits_pkey PRIMARY KEY (deposit_id)
grant insert, select, update to quittance_payouts

--- table payouts.signing_plans
chain text not null
transactions jsonb not null
fence bigint not null
created_at timestamp with time zone not null default now()
constraint signing_plans_pkey PRIMARY KEY (chain)
grant delete, insert, select to quittance_payouts

--- table payouts.transactions
id bigint not null generated as identity
chain text not null
wallet text not null
nonce bigint
purpose text not null
swept_address text
asset text not null
amount numeric(78,0) not null
max_cost numeric(78,0) not null
min_confirmations integer not null
raw text not null
tx_hash text not null
state text not null default 'signed'::text
fence bigint not null
broadcasts integer not null default 0
first_broadcast_at timestamp with time zone
last_broadcast_at timestamp with time zone
block_height bigint
block_hash text
fee_paid numeric(78,0)
doubted_at timestamp with time zone
looked_at timestamp with time zone
final_at timestamp with time zone
created_at timestamp with time zone not null default now()
updated_at timestamp with time zone not null default now()
final_height_when_signed bigint
searched_to bigint
replacement_group bigint not null
attempt integer not null default 1
valid_to_height bigint
terms jsonb
missing_since timestamp with time zone
constraint transactions_amount_positive CHECK ((amount > (0)::numeric))
constraint transactions_attempt_once UNIQUE (replacement_group, attempt)
constraint transactions_attempt_positive CHECK ((attempt > 0))
constraint transactions_attempts_share_nonce FOREIGN KEY (replacement_group, chain, wallet, nonce) REFERENCES payouts.transactions(id, chain, wallet, nonce)
constraint transactions_first_names_the_group CHECK (((attempt = 1) = (replacement_group = id)))
constraint transactions_group_is_its_first FOREIGN KEY (replacement_group) REFERENCES payouts.transactions(id)
constraint transactions_hash_once UNIQUE (tx_hash)
constraint transactions_max_cost_not_negative CHECK ((max_cost >= (0)::numeric))
constraint transactions_mined_in_a_block CHECK (((state <> ALL (ARRAY['mined'::text, 'reverted'::text])) OR ((block_height IS NOT NULL) AND (block_hash IS NOT NULL))))
constraint transactions_nonce_of_group UNIQUE (id, chain, wallet, nonce)
constraint transactions_pkey PRIMARY KEY (id)
constraint transactions_purpose_known CHECK ((purpose = ANY (ARRAY['payout'::text, 'sweep'::text])))
constraint transactions_state_known CHECK ((state = ANY (ARRAY['signed'::text, 'broadcast'::text, 'mined'::text, 'reverted'::text, 'invalidated'::text])))
constraint transactions_sweeps_name_their_address CHECK (((swept_address IS NOT NULL) = (purpose = 'sweep'::text)))
CREATE INDEX transactions_final ON payouts.transactions USING btree (chain, block_height DESC, id DESC) WHERE (final_at IS NOT NULL)
CREATE INDEX transactions_missing ON payouts.transactions USING btree (chain) WHERE (missing_since IS NOT NULL)
CREATE INDEX transactions_not_final ON payouts.transactions USING btree (looked_at NULLS FIRST) WHERE ((state = ANY (ARRAY['mined'::text, 'reverted'::text])) AND (final_at IS NULL))
CREATE UNIQUE INDEX transactions_one_group_of_nonce ON payouts.transactions USING btree (chain, wallet, nonce) WHERE (attempt = 1)
CREATE UNIQUE INDEX transactions_one_mined_of_group ON payouts.transactions USING btree (replacement_group) WHERE (state = ANY (ARRAY['mined'::text, 'reverted'::text]))
CREATE UNIQUE INDEX transactions_one_sweep_at_a_time ON payouts.transactions USING btree (chain, swept_address, asset) WHERE ((purpose = 'sweep'::text) AND (state = ANY (ARRAY['signed'::text, 'broadcast'::text])) AND (attempt = 1))
CREATE INDEX transactions_open ON payouts.transactions USING btree (chain, wallet, nonce) WHERE (state = ANY (ARRAY['signed'::text, 'broadcast'::text]))
CREATE INDEX transactions_swept ON payouts.transactions USING btree (chain, swept_address) WHERE (purpose = 'sweep'::text)
grant insert, select, update to quittance_payouts
grant select (id, chain, wallet, nonce, purpose, swept_address, asset, amount, max_cost, tx_hash, state, block_height, block_hash, final_at, created_at, updated_at, replacement_group, attempt) to quittance_auditor
grant select (id, chain, wallet, nonce, purpose, swept_address, asset, amount, max_cost, tx_hash, state, broadcasts, first_broadcast_at, last_broadcast_at, block_height, block_hash, fee_paid, final_at, created_at, updated_at, replacement_group, attempt, missing_since) to quittance_operator

--- table payouts.unswept_deposits
deposit_id text not null
chain text not null
address text not null
derivation_index bigint not null
asset text not null
amount numeric(78,0) not null
state text not null default 'held'::text
sweep_id bigint
reversed_at timestamp with time zone
retry_at timestamp with time zone
created_at timestamp with time zone not null default now()
updated_at timestamp with time zone not null default now()
account_id text
invoice_id text
disposition text
constraint unswept_deposits_amount_positive CHECK ((amount > (0)::numeric))
constraint unswept_deposits_disposition_known CHECK ((disposition = ANY (ARRAY['credit'::text, 'unresolved'::text])))
constraint unswept_deposits_pkey PRIMARY KEY (deposit_id)
constraint unswept_deposits_state_known CHECK ((state = ANY (ARRAY['held'::text, 'sweeping'::text, 'swept'::text])))
constraint unswept_deposits_sweep_id_fkey FOREIGN KEY (sweep_id) REFERENCES payouts.transactions(id)
constraint unswept_deposits_sweep_is_named CHECK (((state = 'held'::text) = (sweep_id IS NULL)))
CREATE INDEX unswept_deposits_by_address ON payouts.unswept_deposits USING btree (chain, address, asset) WHERE (state = 'held'::text)
CREATE INDEX unswept_deposits_of_sweep ON payouts.unswept_deposits USING btree (sweep_id) WHERE (sweep_id IS NOT NULL)
CREATE INDEX unswept_deposits_sweeping ON payouts.unswept_deposits USING btree (sweep_id) WHERE ((state = 'sweeping'::text) AND (reversed_at IS NULL))
CREATE INDEX unswept_deposits_there ON payouts.unswept_deposits USING btree (chain) WHERE ((state <> 'swept'::text) AND (reversed_at IS NULL))
CREATE INDEX unswept_deposits_to_sweep ON payouts.unswept_deposits USING btree (chain, asset, amount DESC) WHERE ((state = 'held'::text) AND (reversed_at IS NULL))
grant insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select (deposit_id, chain, address, derivation_index, asset, amount, state, sweep_id, reversed_at, retry_at, created_at, updated_at, account_id, invoice_id, disposition) to quittance_operator

--- table payouts.utxos
outpoint text not null
chain text not null
address text not null
branch text not null
derivation_index bigint not null
amount numeric(78,0) not null
state text not null
source_deposit_id text
source_group bigint
locked_by bigint
reversed_at timestamp with time zone
retry_at timestamp with time zone
created_at timestamp with time zone not null default now()
updated_at timestamp with time zone not null default now()
constraint utxos_amount_positive CHECK ((amount > (0)::numeric))
constraint utxos_branch_known CHECK ((branch = ANY (ARRAY['deposit'::text, 'hot'::text, 'change'::text])))
constraint utxos_come_from_somewhere CHECK ((((source_deposit_id IS NOT NULL) = (branch = 'deposit'::text)) AND ((source_group IS NOT NULL) = (branch = 'change'::text))))
constraint utxos_deposit_once UNIQUE (source_deposit_id)
constraint utxos_index_not_negative CHECK ((derivation_index >= 0))
constraint utxos_lock_is_named CHECK (((locked_by IS NOT NULL) = (state = ANY (ARRAY['locked'::text, 'spent'::text]))))
constraint utxos_locked_by_fkey FOREIGN KEY (locked_by) REFERENCES payouts.transactions(id)
constraint utxos_pkey PRIMARY KEY (outpoint)
constraint utxos_source_group_fkey FOREIGN KEY (source_group) REFERENCES payouts.transactions(id)
constraint utxos_state_known CHECK ((state = ANY (ARRAY['incoming'::text, 'available'::text, 'locked'::text, 'spent'::text])))
CREATE INDEX utxos_locked ON payouts.utxos USING btree (locked_by) WHERE ((state = 'locked'::text) AND (reversed_at IS NULL))
CREATE INDEX utxos_of_group ON payouts.utxos USING btree (locked_by) WHERE (locked_by IS NOT NULL)
CREATE INDEX utxos_of_source ON payouts.utxos USING btree (source_group) WHERE (source_group IS NOT NULL)
CREATE INDEX utxos_spendable ON payouts.utxos USING btree (chain, amount DESC) WHERE ((state = 'available'::text) AND (reversed_at IS NULL))
CREATE INDEX utxos_there ON payouts.utxos USING btree (chain) WHERE ((state <> 'spent'::text) AND (reversed_at IS NULL))
grant insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (outpoint, chain, address, branch, derivation_index, amount, state, source_deposit_id, source_group, locked_by, reversed_at, retry_at, created_at, updated_at) to quittance_operator

--- table payouts.wallet_histories
chain text not null
address text not null
signature text
updated_at timestamp with time zone not null default now()
constraint wallet_histories_once PRIMARY KEY (chain, address)
grant insert, select, update to quittance_payouts
grant select to quittance_operator

--- table payouts.wallets
chain text not null
address text not null
role text not null
next_nonce bigint
created_at timestamp with time zone not null default now()
constraint wallets_next_nonce_not_negative CHECK ((next_nonce >= 0))
constraint wallets_pkey PRIMARY KEY (chain, address)
constraint wallets_role_known CHECK ((role = ANY (ARRAY['hot'::text, 'deposit'::text])))
CREATE UNIQUE INDEX wallets_one_hot_wallet ON payouts.wallets USING btree (chain) WHERE (role = 'hot'::text)
grant insert, select, update to quittance_payouts
grant select to quittance_auditor
grant select to quittance_operator
grant select (chain, address, role, next_nonce, created_at) to quittance_operator
