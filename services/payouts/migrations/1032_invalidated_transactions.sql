-- A transaction that no block can ever include is invalidated.
alter table transactions drop constraint transactions_state_known;
update transactions set state = 'invalidated' where state = 'dead';
alter table transactions add constraint transactions_state_known check (
  state in ('signed', 'broadcast', 'mined', 'reverted', 'invalidated'));

-- The lease of a chain worker keeps its fencing token.
update leases set name = regexp_replace(name, '^engine:', 'chain-worker:') where name like 'engine:%';
