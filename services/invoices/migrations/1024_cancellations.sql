-- When the merchant cancelled an invoice: it expired then. 1025 checks the constraint, under a lock that lets others read and
-- write.
alter table invoices add column cancelled_at timestamptz;
alter table invoices add constraint invoices_cancelled_when_over
  check (cancelled_at is null or (expires_at is not null and expires_at <= cancelled_at)) not valid;
