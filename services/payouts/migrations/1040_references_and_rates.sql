-- What a merchant notes on a payout, and the US dollars of one whole asset when the payout was requested: null for older payouts.
-- The notes stay in the order in which they were given, so they are no jsonb.
alter table payouts
  add column external_id text constraint payouts_external_id_within_limit check (char_length(external_id) <= 255),
  add column metadata json not null default '{}',
  add column usd_rate numeric constraint payouts_usd_rate_positive check (usd_rate > 0);

-- A merchant's search. Few payouts share one of these values.
create index payouts_external_id on payouts (account_id, external_id) where external_id is not null;
create index payouts_tx_hash on payouts (account_id, tx_hash) where tx_hash is not null;
create index payouts_address on payouts (account_id, address);
