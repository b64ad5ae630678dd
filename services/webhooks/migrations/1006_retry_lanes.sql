-- What is tried again is kept apart from what is new: news never stands behind a backlog of retries, of its own
-- endpoint or of others.

-- Tried before, or asked for once more by its owner: it goes in the retry lane.
alter table deliveries add column retry boolean not null generated always as (asked_for or attempts > 0) stored;
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (endpoint_key, retry, due_at, sequence) where state = 'waiting';

-- An endpoint's row in `lanes` now stands for two: due_at for first attempts, retry_due_at for the others. Always true,
-- outside of a transaction that holds its lock:
--   full: its slots are all taken, and the attempt that ends next makes both due
--   else: the earlier of the two is not later than the due_at of any waiting delivery, except for retries while
--   retries_full: the slots for retries are all taken, and the attempt that ends next makes them due
-- Whoever makes something wait may set either of the two: the next claim looks at all that waits and sets both.
alter table lanes add column retry_due_at timestamptz;
alter table lanes add column retries_full boolean not null default false;
-- It has taken a delivery once: until then it is given no more than one that fails.
alter table lanes add column proven boolean not null default false;
update lanes set proven = exists (
  select 1 from deliveries d where d.endpoint_key = lanes.endpoint_key and d.state = 'delivered');

create index lanes_retry_due on lanes (retry_due_at) where not "full" and not retries_full and retry_due_at is not null;
