-- While a chain cannot be seen the clocks of its invoices stand still: for how long in all, and up to when that was
-- reckoned.
alter table invoices
  add column extended_ms bigint not null default 0
    constraint invoices_extended_at_most_a_day check (extended_ms between 0 and 86400000),
  add column clock_until timestamptz;

-- What may expire, the oldest first; one that is covered by payments without a block may lose them.
drop index invoices_by_expiry;
create index invoices_by_expiry on invoices (chain, expires_at)
  where closed_at is null and status in ('pending', 'partially_paid', 'confirmed');
