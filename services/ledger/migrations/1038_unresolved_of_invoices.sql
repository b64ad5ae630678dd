-- An invoice's unresolved funds, and a transaction's: without these, such a list reads all unresolved funds of the account.
create index unresolved_of_invoice on unresolved (invoice_id) where invoice_id is not null;
create index unresolved_of_transaction on unresolved (tx_hash) where tx_hash is not null;
