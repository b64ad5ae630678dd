-- What a signer is going to be asked for on a chain, stored before it is asked: after a crash the very same is asked again, so
-- that no payout is signed from other inputs while bytes that nobody has seen may be somewhere. One at a time on each chain.
create table signing_plans (
  chain text primary key,
  transactions jsonb not null,
  -- the lease token under which it was made
  fence bigint not null,
  created_at timestamptz not null default now()
);

revoke update on signing_plans from quittance_payouts;
-- Which wallet this database belongs to, the signer records.
revoke insert on known_hot_wallets from quittance_payouts;

-- In a plan: a chain worker of a former release, too, signs only what is `reserved`.
alter table payouts drop constraint payouts_status_known;
alter table payouts add constraint payouts_status_known check (status in
  ('requested', 'awaiting_approval', 'reserved', 'planned', 'signed', 'broadcast', 'mined', 'failed', 'refused', 'voided'))
  not valid;
create index payouts_planned on payouts (asset, seq) where status = 'planned';

-- The signer has refused a payout for a while, and why.
alter table payouts add column signing_waits_until timestamptz;
alter table payouts add column signing_refused_because text;
