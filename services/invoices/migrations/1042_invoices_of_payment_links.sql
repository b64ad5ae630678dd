-- In a file of its own: no other lock is held meanwhile. No invoice has a link yet, so the index is empty.
create index invoices_of_payment_link on invoices (account_id, payment_link_id, id) where payment_link_id is not null;
