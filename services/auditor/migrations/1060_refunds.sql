-- What refunds take of the payments of an invoice, and which payouts pay them; not the hashes of their claim links.
grant select (id, invoice_id, asset, share, state, payout_id) on payouts.refunds to quittance_auditor;
