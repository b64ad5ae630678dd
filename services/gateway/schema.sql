-- The schema of this service after all of its migrations. Written by
--   node tools/schema-snapshots.ts
-- `quittance doctor --schema` compares a running database with it. Nothing executes this file.

--- function gateway.audit_hash(previous bytea, entry gateway.audit_log)
returns bytea language sql stable set search_path=pg_temp
  select sha256(previous || convert_to(json_build_array(
    entry.position::text, to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), entry.actor, entry.source,
    entry.written_by, entry.action, entry.account_id, entry.token_id, entry.subject, entry.detail)::text, 'UTF8'));

--- function gateway.chain_audit_log()
returns trigger language plpgsql security definer set search_path=pg_temp
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
end

--- function gateway.keep_audit_log()
returns trigger language plpgsql set search_path=pg_temp
begin
  if tg_op = 'UPDATE' and old.hash is null
    and to_jsonb(new) - '{position,hash}'::text[] = to_jsonb(old) - '{position,hash}'::text[] then return new; end if;
  raise exception 'entries of the audit log are neither changed nor deleted';
end

--- function gateway.prune_inbox(at_most integer)
returns integer language plpgsql security definer set search_path=gateway, pg_temp
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
grant execute to quittance_gateway

--- schema gateway
grant usage to quittance_gateway
grant usage to quittance_operator

--- sequence gateway.audit_log_seq_seq
as bigint start 1 increment 1
grant usage to quittance_gateway

--- sequence gateway.migrations_id_seq
as integer start 1 increment 1
grant usage to quittance_gateway

--- sequence gateway.migrations_lock_index_seq
as integer start 1 increment 1
grant usage to quittance_gateway

--- sequence gateway.outbox_seq_seq
as bigint start 1 increment 1
grant usage to quittance_gateway

--- table gateway.accounts
id text not null
name text not null
created_at timestamp with time zone not null default now()
requests_per_minute integer
constraint accounts_name_given CHECK (((name <> ''::text) AND (char_length(name) <= 255)))
constraint accounts_name_unique UNIQUE (name)
constraint accounts_pkey PRIMARY KEY (id)
constraint accounts_requests_per_minute_valid CHECK (((requests_per_minute >= 1) AND (requests_per_minute <= 1000000)))
grant insert, select to quittance_gateway
grant select to quittance_operator
grant update (requests_per_minute) to quittance_gateway

--- table gateway.audit_log
seq bigint not null generated as identity
at timestamp with time zone not null default now()
actor text not null
action text not null
account_id text
token_id text
detail text
subject text
source text
written_by text default SESSION_USER
"position" bigint
hash bytea
constraint audit_log_chained CHECK ((("position" IS NULL) = (hash IS NULL)))
constraint audit_log_pkey PRIMARY KEY (seq)
constraint audit_log_position_once UNIQUE ("position")
CREATE INDEX audit_log_of_account ON gateway.audit_log USING btree (account_id, "position")
CREATE CONSTRAINT TRIGGER audit_log_chains AFTER INSERT ON gateway.audit_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION gateway.chain_audit_log()
CREATE TRIGGER audit_log_is_kept BEFORE DELETE OR UPDATE ON gateway.audit_log FOR EACH ROW EXECUTE FUNCTION gateway.keep_audit_log()
CREATE TRIGGER audit_log_is_never_emptied BEFORE TRUNCATE ON gateway.audit_log FOR EACH STATEMENT EXECUTE FUNCTION gateway.keep_audit_log()
grant select to quittance_gateway
grant select to quittance_operator
grant insert (actor, action, account_id, token_id, detail, subject, source) to quittance_gateway

--- table gateway.dead_letters
event_id text not null
kind text not null
envelope jsonb not null
failure text not null
failed_at timestamp with time zone not null default now()
constraint dead_letters_pkey PRIMARY KEY (event_id)
grant insert, select, update to quittance_gateway

--- table gateway.failed_requests
id text collate "C" not null
account_id text collate "C" not null
at timestamp(3) with time zone not null
method text not null
path text not null
status smallint not null
code text
actor text not null
address text
constraint failed_requests_path_within_limit CHECK ((char_length(path) <= 300))
constraint failed_requests_pkey PRIMARY KEY (id)
constraint failed_requests_status_of_errors CHECK (((status >= 400) AND (status <= 599)))
CREATE INDEX failed_requests_of_account ON gateway.failed_requests USING btree (account_id, id)
grant delete, insert, select to quittance_gateway

--- table gateway.inbox
event_id text not null
received_at timestamp with time zone not null default now()
constraint inbox_pkey PRIMARY KEY (event_id)
grant insert, select to quittance_gateway

--- table gateway.inbox_exceptions
event_id text not null
at timestamp with time zone not null default now()
constraint inbox_exceptions_pkey PRIMARY KEY (event_id)
grant delete, select to quittance_gateway

--- table gateway.inbox_pruning
is_only boolean not null default true
before_id text not null
since timestamp with time zone not null default now()
constraint inbox_pruning_is_one_row CHECK (is_only)
constraint inbox_pruning_pkey PRIMARY KEY (is_only)
grant insert, select, update to quittance_gateway

--- table gateway.invitations
id text collate "C" not null
token_hash bytea not null
email text not null
account_id text
role text
created_at timestamp(3) with time zone not null default now()
expires_at timestamp(3) with time zone not null
used_at timestamp(3) with time zone
constraint invitations_account_exists FOREIGN KEY (account_id) REFERENCES gateway.accounts(id)
constraint invitations_hash_is_sha256 CHECK ((octet_length(token_hash) = 32))
constraint invitations_hash_unique UNIQUE (token_hash)
constraint invitations_have_a_role CHECK (((account_id IS NULL) = (role IS NULL)))
constraint invitations_pkey PRIMARY KEY (id)
constraint invitations_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'accountant'::text, 'viewer'::text])))
CREATE INDEX invitations_of_account ON gateway.invitations USING btree (account_id, created_at)
grant insert, select to quittance_gateway
grant update (used_at) to quittance_gateway

--- table gateway.leases
name text not null
holder text not null
token bigint not null
expires_at timestamp with time zone not null
constraint leases_pkey PRIMARY KEY (name)
grant insert, select, update to quittance_gateway

--- table gateway.memberships
person_id text collate "C" not null
account_id text not null
role text not null
created_at timestamp(3) with time zone not null default now()
constraint memberships_account_exists FOREIGN KEY (account_id) REFERENCES gateway.accounts(id)
constraint memberships_person_exists FOREIGN KEY (person_id) REFERENCES gateway.people(id) ON DELETE CASCADE
constraint memberships_pkey PRIMARY KEY (person_id, account_id)
constraint memberships_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'accountant'::text, 'viewer'::text])))
CREATE INDEX memberships_of_account ON gateway.memberships USING btree (account_id, created_at)
grant delete, insert, select to quittance_gateway
grant update (role) to quittance_gateway

--- table gateway.migrations
id integer not null default nextval('gateway.migrations_id_seq'::regclass)
name character varying(255)
batch integer
migration_time timestamp with time zone
constraint migrations_pkey PRIMARY KEY (id)
grant select to quittance_gateway

--- table gateway.migrations_lock
index integer not null default nextval('gateway.migrations_lock_index_seq'::regclass)
is_locked integer
constraint migrations_lock_pkey PRIMARY KEY (index)

--- table gateway.operators
person_id text collate "C" not null
granted_at timestamp(3) with time zone not null default now()
constraint operators_person_exists FOREIGN KEY (person_id) REFERENCES gateway.people(id) ON DELETE CASCADE
constraint operators_pkey PRIMARY KEY (person_id)
grant select to quittance_gateway
grant select to quittance_operator

--- table gateway.outbox
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
CREATE INDEX outbox_unconfirmed ON gateway.outbox USING btree (seq) WHERE ((confirmed_at IS NULL) AND (sent_at IS NOT NULL))
CREATE INDEX outbox_unsent ON gateway.outbox USING btree (seq) WHERE (sent_at IS NULL)
grant delete, insert, select, update to quittance_gateway

--- table gateway.passkey_challenges
challenge_hash bytea not null
purpose text not null
person_id text collate "C"
created_at timestamp(3) with time zone not null default now()
constraint passkey_challenges_hash_is_sha256 CHECK ((octet_length(challenge_hash) = 32))
constraint passkey_challenges_have_a_person CHECK (((person_id IS NULL) = (purpose = 'sign_in'::text)))
constraint passkey_challenges_person_exists FOREIGN KEY (person_id) REFERENCES gateway.people(id) ON DELETE CASCADE
constraint passkey_challenges_pkey PRIMARY KEY (challenge_hash)
constraint passkey_challenges_purpose_known CHECK ((purpose = ANY (ARRAY['register'::text, 'sign_in'::text, 'step_up'::text])))
CREATE INDEX passkey_challenges_by_age ON gateway.passkey_challenges USING btree (created_at)
grant delete, insert, select to quittance_gateway

--- table gateway.passkeys
id text collate "C" not null
person_id text collate "C" not null
name text not null
credential_id text collate "C" not null
public_key bytea not null
sign_count bigint not null
transports text[] not null
created_at timestamp(3) with time zone not null default now()
last_used_at timestamp(3) with time zone
constraint passkeys_count_of_32_bits CHECK (((sign_count >= 0) AND (sign_count <= '4294967295'::bigint)))
constraint passkeys_credential_unique UNIQUE (credential_id)
constraint passkeys_credential_within_limit CHECK (((char_length(credential_id) >= 1) AND (char_length(credential_id) <= 1364)))
constraint passkeys_key_within_limit CHECK (((octet_length(public_key) >= 1) AND (octet_length(public_key) <= 1024)))
constraint passkeys_name_given CHECK (((name <> ''::text) AND (char_length(name) <= 255)))
constraint passkeys_person_exists FOREIGN KEY (person_id) REFERENCES gateway.people(id) ON DELETE CASCADE
constraint passkeys_pkey PRIMARY KEY (id)
CREATE INDEX passkeys_of_person ON gateway.passkeys USING btree (person_id, created_at)
grant delete, insert, select to quittance_gateway
grant update (name, sign_count, last_used_at) to quittance_gateway

--- table gateway.people
id text collate "C" not null
email text not null
name text not null
password_hash text
created_at timestamp(3) with time zone not null default now()
totp_secret bytea
totp_pending bytea
totp_last_step bigint
passkey_handle bytea not null default decode(replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text), 'hex'::text)
constraint people_email_given CHECK (((email ~ '^[^@\s]+@[^@\s]+$'::text) AND (char_length(email) <= 254)))
constraint people_email_unique UNIQUE (email)
constraint people_name_given CHECK (((name <> ''::text) AND (char_length(name) <= 255)))
constraint people_passkey_handle_unique UNIQUE (passkey_handle)
constraint people_pkey PRIMARY KEY (id)
grant delete, insert, select to quittance_gateway
grant update (name, password_hash, totp_secret, totp_pending, totp_last_step) to quittance_gateway

--- table gateway.recovery_codes
person_id text collate "C" not null
code_hash bytea not null
constraint recovery_codes_hash_is_sha256 CHECK ((octet_length(code_hash) = 32))
constraint recovery_codes_person_exists FOREIGN KEY (person_id) REFERENCES gateway.people(id) ON DELETE CASCADE
constraint recovery_codes_pkey PRIMARY KEY (person_id, code_hash)
grant delete, insert, select to quittance_gateway

--- table gateway.sessions
id text collate "C" not null
token_hash bytea not null
person_id text collate "C" not null
account_id text not null
signed_in_at timestamp(3) with time zone not null
stepped_up_at timestamp(3) with time zone not null
last_used_at timestamp(3) with time zone not null
address text
user_agent text
ended_at timestamp(3) with time zone
constraint sessions_hash_is_sha256 CHECK ((octet_length(token_hash) = 32))
constraint sessions_hash_unique UNIQUE (token_hash)
constraint sessions_of_a_member FOREIGN KEY (person_id, account_id) REFERENCES gateway.memberships(person_id, account_id) ON DELETE CASCADE
constraint sessions_pkey PRIMARY KEY (id)
constraint sessions_user_agent_within_limit CHECK ((char_length(user_agent) <= 255))
CREATE INDEX sessions_of_person ON gateway.sessions USING btree (person_id, signed_in_at)
grant delete, insert, select to quittance_gateway
grant update (last_used_at, ended_at) to quittance_gateway

--- table gateway.tokens
id text not null
account_id text not null
name text not null
hash bytea not null
hint text not null
created_at timestamp with time zone not null default now()
last_used_at timestamp with time zone
expires_at timestamp with time zone
revoked_at timestamp with time zone
scopes text[]
allowed_ips cidr[]
last_used_ip inet
replaces text
idempotency_key text
constraint tokens_account_exists FOREIGN KEY (account_id) REFERENCES gateway.accounts(id)
constraint tokens_allowed_ips_named CHECK ((allowed_ips <> '{}'::cidr[]))
constraint tokens_hash_is_sha256 CHECK ((octet_length(hash) = 32))
constraint tokens_hash_unique UNIQUE (hash)
constraint tokens_idempotency_once UNIQUE (account_id, idempotency_key)
constraint tokens_name_given CHECK (((name <> ''::text) AND (char_length(name) <= 255)))
constraint tokens_pkey PRIMARY KEY (id)
constraint tokens_replaced_once UNIQUE (replaces)
constraint tokens_replaces_fkey FOREIGN KEY (replaces) REFERENCES gateway.tokens(id)
constraint tokens_scopes_named CHECK ((scopes <> '{}'::text[]))
CREATE INDEX tokens_of_account ON gateway.tokens USING btree (account_id, created_at)
grant insert, select to quittance_gateway
grant update (last_used_at, expires_at, revoked_at, last_used_ip) to quittance_gateway
