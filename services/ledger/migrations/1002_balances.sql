-- What we owe each account: spendable, reserved for payouts under way, and received without a decision yet.
-- Kept beside the entries, of which each column is the sum, so that a hold is decided from one row.
create table balances (
  account_id text collate "C" not null,
  asset text collate "C" not null,
  available numeric(78, 0) not null default 0
    constraint balances_available_not_negative check (available >= 0),
  held numeric(78, 0) not null default 0
    constraint balances_held_not_negative check (held >= 0),
  unresolved numeric(78, 0) not null default 0
    constraint balances_unresolved_not_negative check (unresolved >= 0),
  primary key (account_id, asset)
) with (fillfactor = 70); -- room on the page for the next version of a row that changes with every payment
