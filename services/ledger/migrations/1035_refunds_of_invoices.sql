-- The invoice that the payout of a hold refunds. Merchants tell refunds from withdrawals by it. Null of other payouts, and of the
-- refunds of older releases.
alter table holds add column invoice_id text collate "C";
