-- Of an invoice's payments the newest and the largest are shown: each is found without a look at the others. Deposits can
-- be read meanwhile; 1021 drops the index that these replace, for which nobody may.
create index deposits_of_invoice_by_time on deposits (invoice_id, first_seen_at, id);
create index deposits_of_invoice_by_amount on deposits (invoice_id, asset, amount, id);
