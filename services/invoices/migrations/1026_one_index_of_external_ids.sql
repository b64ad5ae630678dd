-- The index by prefix also finds a whole external id. It is dropped in a file of its own: no lock is held while it waits.
drop index invoices_of_account_by_external_id;
