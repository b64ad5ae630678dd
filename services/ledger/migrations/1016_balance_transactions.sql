-- Merchants read every movement of their available balance. Running balances and sums are computed when they are read, from
-- this index; only the rate is stored, because nothing else tells it later.
create index entries_of_balance on entries (account_id, asset, transfer_seq) include (amount)
  where bucket = 'available';

-- Statements of a month, and lists by dates.
create index transfers_of_account on transfers (account_id, asset, created_at);

alter table transfers
  -- US dollars for one whole asset, as the ledger quoted it then; not known of older transfers
  add column usd_rate numeric(96, 18) constraint transfers_usd_rate_positive check (usd_rate > 0),
  -- The time of the row, not of its transaction's begin: while the balance is locked, times are in the order of seq.
  alter column created_at set default clock_timestamp();

-- The invoice that was paid; of older deposits known only where they went to no balance.
alter table deposits add column invoice_id text collate "C";
update deposits d set invoice_id = u.invoice_id
from unresolved u where u.deposit_id = d.deposit_id and u.invoice_id is not null;
create index deposits_of_invoice on deposits (invoice_id) where invoice_id is not null;
