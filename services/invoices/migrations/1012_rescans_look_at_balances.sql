-- Native money that a contract sent stands in no block: once these are read, the balances of all addresses are looked at.
-- The last address that this was asked for, in their own order; '' none yet.
alter table rescans add column looks_asked_to text collate "C" not null default '';
