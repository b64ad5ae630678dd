-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function ledger.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=ledger, pg_temp
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
grant execute to quittance_ledger

--- function ledger.refuse_unbalanced_entries()
returns trigger language plpgsql
begin
  if exists (select from written group by transfer_seq, asset having sum(amount) <> 0) then
    raise exception 'entries of a transfer do not sum to zero'
      using errcode = 'check_violation', constraint = 'entries_sum_to_zero', table = 'entries';
  end if;
  return null;
end
grant execute to public

--- schema ledger
grant usage to quittance_auditor
grant usage to quittance_ledger
grant usage to quittance_operator

--- sequence ledger.asset_settings_id_seq
as bigint start 1 increment 1
grant usage to quittance_ledger

--- sequence ledger.entries_seq_seq
as bigint start 1 increment 1
grant usage to quittance_ledger

--- sequence ledger.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_ledger

--- sequence ledger.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_ledger

--- sequence ledger.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_ledger

--- sequence ledger.transfers_seq_seq
as bigint start 1 increment 1
grant usage to quittance_ledger

--- table ledger.asset_settings
id bigint not null generated as identity
settings jsonb not null
first_seen_at timestamp with time zone not null default now()
in_force_since timestamp with time zone
constraint asset_settings_once UNIQUE (settings)
constraint asset_settings_pkey PRIMARY KEY (id)
grant insert, select, update to quittance_ledger

--- table ledger.asset_settings_replicas
replica text not null
settings_id bigint not null
seen_at timestamp with time zone not null default now()
constraint asset_settings_replicas_pkey PRIMARY KEY (replica)
constraint asset_settings_replicas_settings_id_fkey FOREIGN KEY (settings_id) REFERENCES ledger.asset_settings(id)
grant delete, insert, select, update to quittance_ledger

--- table ledger.assets
symbol text not null
active boolean not null default false
min_confirmations integer not null
network_fee numeric(78,0) not null
dust numeric(78,0) not null
fee_margin_percent integer not null default 200
fee_floor numeric(78,0) not null default 0
fee_cap numeric(78,0) not null
min_confirmations_set integer
constraint assets_dust_not_negative CHECK ((dust >= (0)::numeric))
constraint assets_fee_cap_above_floor CHECK (((fee_cap >= fee_floor) AND (fee_cap > (0)::numeric)))
constraint assets_fee_floor_not_negative CHECK ((fee_floor >= (0)::numeric))
constraint assets_fee_margin_covers_the_cost CHECK ((fee_margin_percent >= 100))
constraint assets_min_confirmations_positive CHECK ((min_confirmations > 0))
constraint assets_min_confirmations_set_positive CHECK ((min_confirmations_set > 0))
constraint assets_network_fee_not_negative CHECK ((network_fee >= (0)::numeric))
constraint assets_pkey PRIMARY KEY (symbol)
grant select, update to quittance_ledger
grant select (symbol, active, dust) to quittance_operator
grant select (symbol, dust) to quittance_auditor

--- table ledger.balances
account_id text collate "C" not null
asset text collate "C" not null
available numeric(78,0) not null default 0
held numeric(78,0) not null default 0
unresolved numeric(78,0) not null default 0
constraint balances_available_not_negative CHECK ((available >= (0)::numeric))
constraint balances_held_not_negative CHECK ((held >= (0)::numeric))
constraint balances_pkey PRIMARY KEY (account_id, asset)
constraint balances_unresolved_not_negative CHECK ((unresolved >= (0)::numeric))
with (fillfactor=70)
grant insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select (account_id, asset, available, held, unresolved) to quittance_operator

--- table ledger.currency_rates
currency text collate "C" not null
as_of timestamp with time zone not null
usd_rate numeric(96,18) not null
constraint currency_rates_pkey PRIMARY KEY (currency, as_of)
constraint currency_rates_positive CHECK ((usd_rate > (0)::numeric))
grant insert, select to quittance_ledger

--- table ledger.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_ledger
grant select to quittance_operator
grant select (event_id, kind) to quittance_auditor
grant select (event_id, kind) to quittance_operator

--- table ledger.deposits
deposit_id text collate "C" not null
account_id text collate "C" not null
asset text collate "C" not null
outpoint text collate "C" not null
invoice_id text collate "C"
constraint deposits_pkey PRIMARY KEY (deposit_id)
CREATE INDEX deposits_of_invoice ON ledger.deposits USING btree (invoice_id) WHERE (invoice_id IS NOT NULL)
CREATE INDEX deposits_of_payment ON ledger.deposits USING btree (account_id, asset, outpoint)
grant insert, select to quittance_ledger

--- table ledger.entries
seq bigint not null generated as identity
transfer_seq bigint not null
account_id text
bucket text not null
asset text not null
amount numeric(78,0) not null
constraint entries_account_fits_bucket CHECK (((account_id IS NOT NULL) = (bucket = ANY (ARRAY['available'::text, 'held'::text, 'unresolved'::text]))))
constraint entries_amount_not_zero CHECK ((amount <> (0)::numeric))
constraint entries_bucket_known CHECK ((bucket = ANY (ARRAY['available'::text, 'held'::text, 'unresolved'::text, 'custody'::text, 'fees'::text, 'loss'::text, 'network'::text])))
constraint entries_pkey PRIMARY KEY (seq)
CREATE INDEX entries_of_balance ON ledger.entries USING btree (account_id, asset, transfer_seq) INCLUDE (amount) WHERE (bucket = 'available'::text)
CREATE INDEX entries_of_transfer ON ledger.entries USING btree (transfer_seq)
CREATE TRIGGER entries_sum_to_zero AFTER INSERT ON ledger.entries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION ledger.refuse_unbalanced_entries()
grant insert, select to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, transfer_seq, account_id, bucket, asset, amount) to quittance_operator

--- table ledger.hold_proofs
payout_id text collate "C" not null
assertion_id text collate "C"
item integer not null
use text not null
destination text not null
replaced boolean not null default false
created_at timestamp with time zone not null default now()
constraint hold_proofs_have_a_request CHECK (((assertion_id IS NULL) = (use = 'unproven'::text)))
constraint hold_proofs_pkey PRIMARY KEY (payout_id)
constraint hold_proofs_use_known CHECK ((use = ANY (ARRAY['once'::text, 'link'::text, 'rule'::text, 'unproven'::text])))
CREATE UNIQUE INDEX hold_proofs_once ON ledger.hold_proofs USING btree (assertion_id, item) WHERE ((use = ANY (ARRAY['once'::text, 'link'::text])) AND (NOT replaced))
grant insert, select to quittance_ledger
grant update (replaced) to quittance_ledger

--- table ledger.holds
payout_id text collate "C" not null
account_id text not null
asset text not null
amount numeric(78,0)
network_fee numeric(78,0)
state text not null
created_at timestamp with time zone not null default now()
ended_at timestamp with time zone
deposit_id text collate "C"
invoice_id text collate "C"
constraint holds_amount_positive CHECK ((amount > (0)::numeric))
constraint holds_amounts_known CHECK (((state = 'voided'::text) OR ((amount IS NOT NULL) AND (network_fee IS NOT NULL))))
constraint holds_network_fee_not_negative CHECK ((network_fee >= (0)::numeric))
constraint holds_pkey PRIMARY KEY (payout_id)
constraint holds_state_known CHECK ((state = ANY (ARRAY['placed'::text, 'refused'::text, 'voided'::text, 'settled'::text, 'released'::text])))
CREATE INDEX holds_of_deposit ON ledger.holds USING btree (deposit_id) WHERE (deposit_id IS NOT NULL)
CREATE INDEX holds_of_invoice ON ledger.holds USING btree (invoice_id) WHERE (invoice_id IS NOT NULL)
CREATE INDEX holds_open ON ledger.holds USING btree (asset, created_at) WHERE (state = 'placed'::text)
with (fillfactor=85)
grant insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (payout_id, account_id, asset, amount, network_fee, state, created_at, ended_at, deposit_id, invoice_id) to quittance_operator

--- table ledger.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (event_id, received_at) to quittance_operator

--- table ledger.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_ledger

--- table ledger.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_ledger

--- table ledger.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_ledger

--- table ledger.migrations
id integer not null default nextval('ledger.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_ledger

--- table ledger.migrations_lock
index integer not null default nextval('ledger.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table ledger.outbox
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
CREATE INDEX outbox_unconfirmed ON ledger.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON ledger.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, id, kind, payload, request_id, created_at, claimed_until, sent_at, sends, confirmed_at, confirmed_by, dead_lettered_by) to quittance_operator

--- table ledger.quotes
asset text not null
usd_rate numeric(96,18) not null
spread_bps integer not null
sources jsonb not null
as_of timestamp with time zone not null
constraint quotes_pkey PRIMARY KEY (asset)
constraint quotes_usd_rate_positive CHECK ((usd_rate > (0)::numeric))
grant insert, select, update to quittance_ledger

--- table ledger.reversals
deposit_id text collate "C" not null
account_id text not null
asset text not null
amount numeric(78,0) not null
created_at timestamp with time zone not null default now()
booked_at timestamp with time zone
outpoint text
constraint reversals_amount_positive CHECK ((amount > (0)::numeric))
constraint reversals_pkey PRIMARY KEY (deposit_id)
CREATE INDEX reversals_waiting ON ledger.reversals USING btree (created_at) WHERE (booked_at IS NULL)
grant insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (deposit_id, account_id, asset, amount, created_at, booked_at, outpoint) to quittance_operator

--- table ledger.transfers
seq bigint not null generated as identity
op text collate "C" not null
kind text not null
account_id text
asset text not null
amount numeric(78,0) not null
network_fee numeric(78,0) not null default 0
detail text not null default ''::text
created_at timestamp with time zone not null default clock_timestamp()
usd_rate numeric(96,18)
constraint transfers_account_fits_kind CHECK (((account_id IS NULL) = (kind = 'network'::text)))
constraint transfers_amount_positive CHECK ((amount > (0)::numeric))
constraint transfers_kind_known CHECK ((kind = ANY (ARRAY['deposit'::text, 'reversal'::text, 'recovery'::text, 'hold'::text, 'settle'::text, 'release'::text, 'accept'::text, 'network'::text])))
constraint transfers_network_fee_not_negative CHECK ((network_fee >= (0)::numeric))
constraint transfers_op_once UNIQUE (op)
constraint transfers_pkey PRIMARY KEY (seq)
constraint transfers_usd_rate_positive CHECK ((usd_rate > (0)::numeric))
CREATE INDEX transfers_of_account ON ledger.transfers USING btree (account_id, asset, created_at)
grant insert, select to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (seq, op, kind, account_id, asset, amount, network_fee, detail, created_at, usd_rate) to quittance_operator

--- table ledger.unresolved
deposit_id text collate "C" not null
account_id text collate "C" not null
asset text collate "C" not null
amount numeric(78,0) not null
invoice_id text
address text
tx_hash text
state text not null default 'open'::text
payout_id text
created_at timestamp with time zone not null default now()
resolved_at timestamp with time zone
returning_amount numeric(78,0) not null default 0
returned_amount numeric(78,0) not null default 0
reason text collate "C"
constraint unresolved_amount_positive CHECK ((amount > (0)::numeric))
constraint unresolved_payout_known CHECK (((payout_id IS NOT NULL) OR (state <> ALL (ARRAY['returning'::text, 'returned'::text]))))
constraint unresolved_pkey PRIMARY KEY (deposit_id)
constraint unresolved_reason_known CHECK ((reason = ANY (ARRAY['late'::text, 'underpaid'::text, 'wrong_asset'::text, 'too_small'::text])))
constraint unresolved_returned_amount_not_negative CHECK ((returned_amount >= (0)::numeric))
constraint unresolved_returning_amount_not_negative CHECK ((returning_amount >= (0)::numeric))
constraint unresolved_state_known CHECK ((state = ANY (ARRAY['open'::text, 'accepted'::text, 'returning'::text, 'returned'::text, 'reversed'::text])))
CREATE INDEX unresolved_of_account ON ledger.unresolved USING btree (account_id, created_at DESC, deposit_id DESC)
CREATE INDEX unresolved_of_invoice ON ledger.unresolved USING btree (invoice_id) WHERE (invoice_id IS NOT NULL)
CREATE INDEX unresolved_of_transaction ON ledger.unresolved USING btree (tx_hash) WHERE (tx_hash IS NOT NULL)
CREATE INDEX unresolved_open ON ledger.unresolved USING btree (account_id, asset) INCLUDE (amount) WHERE (state = 'open'::text)
CREATE INDEX unresolved_returning ON ledger.unresolved USING btree (payout_id) WHERE (state = 'returning'::text)
with (fillfactor=85)
grant insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select to quittance_operator
grant select (deposit_id, account_id, asset, amount, invoice_id, address, tx_hash, state, payout_id, created_at, resolved_at, returning_amount, returned_amount, reason) to quittance_operator

--- table ledger.write_offs
account_id text collate "C" not null
asset text collate "C" not null
outpoint text collate "C" not null
amount_left numeric(78,0) not null
constraint write_offs_amount_left_not_negative CHECK ((amount_left >= (0)::numeric))
constraint write_offs_pkey PRIMARY KEY (account_id, asset, outpoint)
grant insert, select, update to quittance_ledger
grant select to quittance_auditor
grant select (account_id, asset, outpoint, amount_left) to quittance_operator
