-- In a file of its own: no lock is held while it waits.
drop index invoices_of_account;
