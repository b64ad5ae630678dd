-- Lists and files are filtered by when invoices were paid.
create index invoices_of_account_by_paid_at on invoices (account_id, paid_at, id) where paid_at is not null;
