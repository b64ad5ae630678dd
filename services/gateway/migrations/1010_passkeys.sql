-- Passkeys of people (WebAuthn). Each signs in alone: the device has asked for a fingerprint, a face or a PIN.
alter table people
  -- What a device stores as the person's id: random, so that it says nothing of the person. It stays the same, so that a new passkey
  -- takes the place of the former one on the same device.
  add column passkey_handle bytea not null
    default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
    constraint people_passkey_handle_unique unique;

create table passkeys (
  id text collate "C" primary key,
  person_id text collate "C" not null constraint passkeys_person_exists references people (id) on delete cascade,
  name text not null,
  -- the id that the device gave it, in base64url
  credential_id text collate "C" not null constraint passkeys_credential_unique unique,
  -- COSE (RFC 9052)
  public_key bytea not null,
  -- the signature counter of its last use; 0 of a device that does not count
  sign_count bigint not null,
  transports text[] not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  constraint passkeys_name_given check (name <> '' and char_length(name) <= 255),
  constraint passkeys_credential_within_limit check (char_length(credential_id) between 1 and 1364),
  constraint passkeys_key_within_limit check (octet_length(public_key) between 1 and 1024),
  constraint passkeys_count_of_32_bits check (sign_count between 0 and 4294967295)
);
create index passkeys_of_person on passkeys (person_id, created_at);

-- What a device has to sign: each counts once, for five minutes, for one purpose.
create table passkey_challenges (
  challenge_hash bytea primary key,
  purpose text not null constraint passkey_challenges_purpose_known check (purpose in ('register', 'sign_in', 'step_up')),
  -- null of a sign-in: who it is, the passkey says
  person_id text collate "C" constraint passkey_challenges_person_exists references people (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  constraint passkey_challenges_hash_is_sha256 check (octet_length(challenge_hash) = 32),
  constraint passkey_challenges_have_a_person check ((person_id is null) = (purpose = 'sign_in'))
);
create index passkey_challenges_by_age on passkey_challenges (created_at);

-- Whoever takes the gateway over cannot give a passkey another key, or another person.
revoke update on passkeys, passkey_challenges from quittance_gateway;
grant update (name, sign_count, last_used_at) on passkeys to quittance_gateway;
