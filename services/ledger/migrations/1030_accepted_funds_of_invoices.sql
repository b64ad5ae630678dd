-- What of an invoice's unresolved deposits was accepted: its refunds take no more.
create index unresolved_accepted_of_invoice on unresolved (invoice_id) where state = 'accepted' and invoice_id is not null;
