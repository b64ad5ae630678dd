-- The hot wallet of the words that this database is used with, from the first address on that customers may pay to.
-- Among the wallets it stands when it signs, with the nonce that comes next: nobody asks the chain for that before.
create table known_hot_wallets (
  chain text constraint known_hot_wallets_one_a_chain primary key,
  address text not null,
  created_at timestamptz not null default now()
);
revoke update, delete on known_hot_wallets from quittance_payouts;
