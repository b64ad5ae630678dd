-- One row for each endpoint that may be delivered to: enabled and not deleted. Workers look here for work, never
-- through the deliveries, so that a dead endpoint's thousands cost nobody else. Its row lock is held by whoever
-- changes what is waiting for the endpoint. Always true, outside of such a transaction:
--   full: its slots are all taken, and the attempt that ends next makes it due
--   else: due_at is not later than the due_at of any waiting delivery
create table lanes (
  endpoint_key bigint primary key references endpoints (key),
  due_at timestamptz,
  "full" boolean not null default false,
  -- attempts that failed since the last success, and since when
  failures int not null default 0,
  failing_since timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index lanes_due on lanes (due_at) where not "full" and due_at is not null;

-- One event for one endpoint. No foreign keys: each row here would lock one that everybody uses.
create table deliveries (
  endpoint_key bigint not null,
  sequence bigint not null,
  state text not null constraint deliveries_state_known
    check (state in ('waiting', 'sending', 'delivered', 'exhausted', 'cancelled')),
  -- recorded ones
  attempts int not null default 0,
  due_at timestamptz not null,
  -- whose it is while it is sent, and until when: after that its sender is taken for dead
  claim uuid,
  claimed_until timestamptz,
  constraint deliveries_claimed_while_sent check ((state = 'sending') = (claim is not null and claimed_until is not null)),
  constraint deliveries_event_and_endpoint_once primary key (endpoint_key, sequence)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index deliveries_waiting on deliveries (endpoint_key, due_at, sequence) where state = 'waiting';
create index deliveries_sending on deliveries (endpoint_key) where state = 'sending';

-- What came of each attempt.
create table attempts (
  endpoint_key bigint not null,
  sequence bigint not null,
  number int not null constraint attempts_number_positive check (number > 0),
  started_at timestamptz not null,
  ms int not null,
  -- exactly one of the two
  status int,
  failure text,
  -- the first kilobyte of the answer
  answer text,
  constraint attempts_answered_or_failed check ((status is null) <> (failure is null)),
  primary key (endpoint_key, sequence, number)
);
-- The log is written, never rewritten.
revoke update on attempts from quittance_webhooks;
