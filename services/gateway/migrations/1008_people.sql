-- People who sign in. Programs have tokens; a person has a password and perhaps second factors, and a role in one account or more.
create table people (
  id text collate "C" primary key,
  -- trimmed, NFKC and in lower case
  email text not null constraint people_email_unique unique,
  name text not null,
  -- argon2id, in the form of PHC. Null: the operator has reset it, and nobody signs in until a new one is set.
  password_hash text,
  created_at timestamptz(3) not null default now(),
  constraint people_email_given check (email ~ '^[^@\s]+@[^@\s]+$' and char_length(email) <= 254),
  constraint people_name_given check (name <> '' and char_length(name) <= 255)
);

-- What a person may do in an account. It goes with the membership.
create table memberships (
  person_id text collate "C" not null constraint memberships_person_exists references people (id) on delete cascade,
  account_id text not null constraint memberships_account_exists references accounts (id),
  role text not null constraint memberships_role_known check (role in ('owner', 'admin', 'developer', 'accountant', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (person_id, account_id)
);
create index memberships_of_account on memberships (account_id, created_at);

-- Only the hash of a session's token is kept. Whoever loses the membership loses its sessions.
create table sessions (
  id text collate "C" primary key,
  token_hash bytea not null constraint sessions_hash_unique unique,
  person_id text collate "C" not null,
  account_id text not null,
  -- of the sign-in that it goes back to: a step-up begins another session and does not make it last longer
  signed_in_at timestamptz(3) not null,
  -- the last time that the person gave password and second factor, or a passkey
  stepped_up_at timestamptz(3) not null,
  -- written at most once a minute
  last_used_at timestamptz(3) not null,
  address text,
  user_agent text constraint sessions_user_agent_within_limit check (char_length(user_agent) <= 255),
  ended_at timestamptz(3),
  constraint sessions_hash_is_sha256 check (octet_length(token_hash) = 32),
  constraint sessions_of_a_member foreign key (person_id, account_id)
    references memberships (person_id, account_id) on delete cascade
);
create index sessions_of_person on sessions (person_id, signed_in_at);

-- One-time tokens by which somebody sets a password: the first time, or after the operator has reset it.
create table invitations (
  id text collate "C" primary key,
  token_hash bytea not null constraint invitations_hash_unique unique,
  email text not null,
  -- null of a reset
  account_id text constraint invitations_account_exists references accounts (id),
  role text constraint invitations_role_known check (role in ('owner', 'admin', 'developer', 'accountant', 'viewer')),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  -- accepted, or withdrawn
  used_at timestamptz(3),
  constraint invitations_hash_is_sha256 check (octet_length(token_hash) = 32),
  constraint invitations_have_a_role check ((account_id is null) = (role is null))
);
create index invitations_of_account on invitations (account_id, created_at);

-- Whoever takes the gateway over cannot make a session last longer, or give it to somebody else.
revoke update on sessions, invitations, memberships, people from quittance_gateway;
-- What became of an invitation stays known.
revoke delete on invitations from quittance_gateway;
grant update (last_used_at, ended_at) on sessions to quittance_gateway;
grant update (used_at) on invitations to quittance_gateway;
grant update (role) on memberships to quittance_gateway;
grant update (name, password_hash) on people to quittance_gateway;
