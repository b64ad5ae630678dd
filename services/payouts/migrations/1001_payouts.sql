-- Numbers payouts in the order they were asked for. A payout's id is its number, permuted with the key
-- below, so that an id tells nothing of how many there are.
create sequence payout_numbers;

create table payout_number_key (
  only_row boolean primary key default true constraint payout_number_key_is_one check (only_row),
  key bytea not null constraint payout_number_key_is_long check (length(key) = 32)
);
-- Two random UUIDs: 244 random bits, drawn where the key will live.
insert into payout_number_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
-- Another key would give ids out a second time.
revoke insert, update, delete on payout_number_key from quittance_payouts;

create table payouts (
  seq bigint primary key,
  id bigint not null
    constraint payouts_id_unique unique
    constraint payouts_id_is_exact_in_json check (id > 0 and id < 9007199254740992),
  account_id text not null,
  asset text not null,
  amount numeric(78, 0) not null constraint payouts_amount_positive check (amount > 0),
  -- what the merchant pays beside the amount, as quoted when it was asked for
  network_fee numeric(78, 0) not null constraint payouts_network_fee_not_negative check (network_fee >= 0),
  -- canonical: lower case on Ethereum
  address text not null,
  min_confirmations int not null constraint payouts_min_confirmations_positive check (min_confirmations > 0),
  status text not null default 'requested' constraint payouts_status_known check (
    status in ('requested', 'reserved', 'signed', 'broadcast', 'mined', 'failed', 'refused', 'voided')),
  tx_hash text,
  failed_reason text,
  -- how often it has changed since the merchant was told that it exists
  version int not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz(3),
  constraint payouts_mined_names_its_transaction check (
    status <> 'mined' or (tx_hash is not null and completed_at is not null)),
  constraint payouts_failed_says_why check (status <> 'failed' or failed_reason is not null)
);

-- A merchant's list, newest first, and its count: what was never accepted is not in it.
create index payouts_shown on payouts (account_id, created_at desc, seq desc)
  where status not in ('requested', 'refused', 'voided');
create index payouts_requested on payouts (created_at) where status = 'requested';
create index payouts_reserved on payouts (asset, seq) where status = 'reserved';
