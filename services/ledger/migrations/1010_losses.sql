-- Which payment on its chain a deposit is. Deposits that were booked before this table are not here.
create table deposits (
  deposit_id text collate "C" primary key,
  account_id text collate "C" not null,
  asset text collate "C" not null,
  outpoint text collate "C" not null
);
create index deposits_of_payment on deposits (account_id, asset, outpoint);

-- What reversals of a payment could not take back and nothing has made up for: the same payment, mined again as
-- another deposit, repays it first. Changed only while its balance's row is locked.
create table losses (
  account_id text collate "C" not null,
  asset text collate "C" not null,
  outpoint text collate "C" not null,
  amount_left numeric(78, 0) not null constraint losses_amount_left_not_negative check (amount_left >= 0),
  primary key (account_id, asset, outpoint)
);

-- Not known of those that were heard of before.
alter table reversals add column outpoint text;

-- A deposit that repaid what its payment had lost takes over the payout that returned the money.
create index unresolved_returning on unresolved (payout_id) where state = 'returning';

alter table transfers
  drop constraint transfers_kind_known,
  add constraint transfers_kind_known
    check (kind in ('deposit', 'reversal', 'recovery', 'hold', 'settle', 'release', 'accept', 'network'));
