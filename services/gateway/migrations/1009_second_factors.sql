-- A second factor of a person: time-based codes (RFC 6238), and recovery codes for people who have lost the device.
alter table people
  -- Encrypted, see totp-secrets.ts. Null: none.
  add column totp_secret bytea,
  -- One that is set up, and does not count before its first code.
  add column totp_pending bytea,
  -- The time step of the last code that was accepted: no code counts twice.
  add column totp_last_step bigint;
grant update (totp_secret, totp_pending, totp_last_step) on people to quittance_gateway;

-- Each is used once. They have 120 random bits, so that a plain hash is enough.
create table recovery_codes (
  person_id text collate "C" not null constraint recovery_codes_person_exists references people (id) on delete cascade,
  code_hash bytea not null,
  primary key (person_id, code_hash),
  constraint recovery_codes_hash_is_sha256 check (octet_length(code_hash) = 32)
);
revoke update on recovery_codes from quittance_gateway;
