-- A payout of the whole balance: until it is reserved its amount is the least that it may be, and then what the ledger has held.
alter table payouts add column takes_all boolean not null default false;
