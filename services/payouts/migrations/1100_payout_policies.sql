-- What an account allows of its payouts. Amounts are texts in the smallest unit. A policy that allows more waits as the next one.
create table payout_policies (
  account_id text primary key,
  policy jsonb not null,
  next_policy jsonb,
  next_at timestamptz(3),
  updated_at timestamptz(3) not null default now(),
  constraint payout_policies_next_has_time check ((next_policy is null) = (next_at is null))
);
revoke delete on payout_policies from quittance_payouts;

-- The address book of an account.
create table payout_addresses (
  id text collate "C" primary key,
  account_id text not null,
  chain text not null,
  -- canonical
  address text not null,
  label text not null constraint payout_addresses_label_within_limit check (char_length(label) <= 255),
  created_at timestamptz(3) not null default now(),
  -- from then on an allow-list lets payouts to it through
  usable_at timestamptz(3) not null,
  constraint payout_addresses_once unique (account_id, chain, address)
);
create index payout_addresses_of_account on payout_addresses (account_id, created_at, id);

alter table payouts
  -- the API token that has requested it; null of older payouts
  add column made_by text,
  -- how many other tokens must approve it; null of one that needs none
  add column approvals_needed smallint
    constraint payouts_approvals_within_limit check (approvals_needed between 1 and 2),
  -- who has approved or rejected it, in that order
  add column approvals json not null default '[]',
  add column approval_expires_at timestamptz(3),
  add column approved_at timestamptz(3),
  add constraint payouts_approval_expires check ((approvals_needed is null) = (approval_expires_at is null)) not valid;

-- A status of its own: a chain worker of a former release, too, signs only what is `reserved`.
alter table payouts drop constraint payouts_status_known;
alter table payouts add constraint payouts_status_known check (status in
  ('requested', 'awaiting_approval', 'reserved', 'signed', 'broadcast', 'mined', 'failed', 'refused', 'voided')) not valid;
alter table payouts add constraint payouts_waits_for_approvals check (
  status <> 'awaiting_approval' or approvals_needed is not null) not valid;
create index payouts_awaiting_approval on payouts (asset, seq) where status = 'awaiting_approval';
