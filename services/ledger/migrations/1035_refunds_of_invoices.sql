-- The invoice that the payout of a hold refunds. Merchants tell refunds from withdrawals by it. Null of other payouts, and of the
-- refunds of older releases.
alter table holds add column invoice_id text collate "C";

-- The refunds among the balance transactions of an invoice.
create index holds_of_invoice on holds (invoice_id) where invoice_id is not null;
