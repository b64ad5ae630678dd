-- The refunds among the balance transactions of an invoice. A file of its own: the column above locks out every reader.
create index holds_of_invoice on holds (invoice_id) where invoice_id is not null;
