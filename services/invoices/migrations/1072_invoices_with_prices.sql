-- The volume of days is added up from this index alone (see store/volume.ts). It also has all that the pages of a list need, so that
-- 1072 drops the index that it replaces. Its columns besides the key are in other indexes too: to change them costs no more.
create index invoices_of_account_with_prices on invoices (account_id, id) include (asset, status, currency, amount_fiat);
