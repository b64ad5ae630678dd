-- A delivery that is asked for again begins its schedule anew, while its attempts are numbered on: its place in the
-- schedule is attempts - round_start.
alter table deliveries add column round_start int not null default 0;
-- Whether its owner asked for it, by a redelivery or a replay: then it goes with the retries, also when it was never
-- tried before, so that it does not delay what is new.
alter table deliveries add column asked_for boolean not null default false;
alter table deliveries add constraint deliveries_round_begun check (round_start between 0 and attempts);

-- The log of an endpoint's deliveries by state, the latest first; those that are being sent are few.
create index deliveries_by_state on deliveries (endpoint_key, state, sequence)
  where state in ('waiting', 'delivered', 'exhausted', 'cancelled');
-- The same by kind, and what is replayed: a range of time.
create index events_of_kind on events (account_id, kind, sequence);
create index events_by_time on events (account_id, created_at, sequence);

-- Since when it is told of these kinds, null while it always was: what happened before may have no delivery.
alter table endpoints add column told_since timestamptz;
-- when it was last disabled, by Quittance or by its owner; it may be enabled again since
alter table endpoints add column disabled_at timestamptz;
-- how often its owner had it tested
alter table endpoints add column tests bigint not null default 0;

-- A secret ends when another has taken its place; then its bytes go.
create index endpoint_secrets_ending on endpoint_secrets (ends_at) where ends_at is not null;
grant update (ends_at) on endpoint_secrets to quittance_webhooks;
