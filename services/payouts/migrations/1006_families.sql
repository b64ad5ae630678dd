-- One payment may take several signed transactions, of which at most one is ever mined: a fee that was too low, bytes
-- that were valid for a while only. All of them are its family, named after the first, and counted as attempts.
alter table transactions
  add column family bigint,
  add column attempt int not null default 1 constraint transactions_attempt_positive check (attempt > 0),
  -- the last block it can be mined in, on chains where bytes expire (Solana)
  add column valid_to_height bigint,
  -- what the next attempt is signed from, as the chain's engine needs it; none for those signed before this was kept
  add column terms jsonb,
  -- only EVM chains number a wallet's transactions
  alter column nonce drop not null;
update transactions set family = id;
alter table transactions
  alter column family set not null,
  add constraint transactions_family_is_its_first foreign key (family) references transactions (id),
  add constraint transactions_first_names_the_family check ((attempt = 1) = (family = id)),
  add constraint transactions_attempt_once unique (family, attempt);

-- Whatever happens, a family is paid once.
create unique index transactions_one_mined_of_family on transactions (family) where state in ('mined', 'reverted');

-- A nonce belongs to one family for ever, and all attempts of a family have its nonce.
alter table transactions
  drop constraint transactions_nonce_once,
  add constraint transactions_nonce_of_family unique (id, chain, wallet, nonce),
  add constraint transactions_attempts_share_nonce foreign key (family, chain, wallet, nonce)
    references transactions (id, chain, wallet, nonce);
create unique index transactions_one_family_of_nonce on transactions (chain, wallet, nonce) where attempt = 1;

-- What a family pays. A payout belongs to one family for ever; on Bitcoin a family may pay many.
create table payments (
  payout_id bigint constraint payments_payout_once primary key,
  family bigint not null constraint payments_family_exists references transactions (id),
  address text not null,
  amount numeric(78, 0) not null constraint payments_amount_positive check (amount > 0),
  -- where its transactions have several outputs
  output_index int
);
create index payments_of_family on payments (family);

insert into payments (payout_id, family, address, amount)
select payouts.id, transactions.family, payouts.address, transactions.amount
from transactions join payouts on payouts.id = transactions.payout_id;

alter table transactions
  drop constraint transactions_serve_their_purpose,
  drop column payout_id,
  add constraint transactions_sweeps_name_their_address check (
    (swept_address is not null) = (purpose = 'sweep'));

-- A family's attempts are open together.
drop index transactions_one_sweep_at_a_time;
create unique index transactions_one_sweep_at_a_time on transactions (chain, swept_address, asset)
  where purpose = 'sweep' and state in ('signed', 'broadcast') and attempt = 1;

-- Wallets of chains that do not number their transactions.
alter table wallets alter column next_nonce drop not null;
