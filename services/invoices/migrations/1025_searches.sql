-- Lists are searched by the beginning of an external id (1026 drops the index that this one replaces), by amount and by
-- transaction. An address leads to its invoice by its own table.
create index invoices_of_account_by_external_id_prefix
  on invoices (account_id, external_id text_pattern_ops, id) where external_id is not null;
create index invoices_of_account_by_amount on invoices (account_id, amount_fiat, id);
create index deposits_by_tx_hash on deposits (tx_hash) where tx_hash is not null;
create index mempool_payments_by_tx_hash on mempool_payments (tx_hash);
-- Of 1024.
alter table invoices validate constraint invoices_cancelled_when_over;
