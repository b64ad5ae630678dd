-- A row for each unresolved deposit of which something was returned: its lock orders the requests, so that their sum is never
-- more than the deposit. Several payouts and claim links may each return a part.
create table returned_deposits (
  deposit_id text collate "C" primary key,
  locked_at timestamptz not null default now()
);
drop index payouts_one_return_of_deposit;
create index payouts_returns_of_deposit on payouts (returns_deposit) where returns_deposit is not null;
drop index refunds_one_of_deposit;
create index refunds_of_deposit on refunds (deposit_id) where deposit_id is not null;

revoke delete on returned_deposits from quittance_payouts;
