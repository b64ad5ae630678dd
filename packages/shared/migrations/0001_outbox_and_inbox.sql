-- What this service announces: written with the state change, carried by the relay afterwards.
create table outbox (
  seq bigint generated always as identity primary key,
  id text not null constraint outbox_id_unique unique,
  kind text not null,
  payload jsonb not null,
  request_id text,
  created_at timestamptz not null default now(),
  -- a relay that took the row and died leaves it to the others after this time
  claimed_until timestamptz,
  sent_at timestamptz,
  sends int not null default 0,
  -- every consumer has it in its inbox: asked by the reconciler, not believed of the broker
  confirmed_at timestamptz
);
create index outbox_unsent on outbox (seq) where sent_at is null;
create index outbox_unconfirmed on outbox (seq) where confirmed_at is null and sent_at is not null;

-- What this service has taken in: written with the effect, so that a second copy has none.
create table inbox (
  event_id text primary key,
  received_at timestamptz not null default now()
);

-- What could not be taken in after many tries; never dropped, an operator puts it back.
create table parked (
  event_id text primary key,
  kind text not null,
  envelope jsonb not null,
  failure text not null,
  parked_at timestamptz not null default now()
);

-- Who may do a thing that only one may do; the token grows with each new holder.
create table leases (
  name text primary key,
  holder text not null,
  token bigint not null,
  expires_at timestamptz not null
);
