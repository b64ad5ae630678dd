-- Refunds: what a merchant pays back of an invoice, and what it gives back of an unresolved deposit by a claim link.
create table refunds (
  id text collate "C" primary key,
  account_id text not null,
  invoice_id text,
  deposit_id text,
  asset text not null,
  -- what it takes of what was paid, at the rate of the invoice
  share numeric(78, 0) not null constraint refunds_share_positive check (share > 0),
  -- what is paid: of a deposit less the network fee
  amount numeric(78, 0) not null constraint refunds_amount_positive check (amount > 0),
  requested text not null,
  rate text not null constraint refunds_rate_known check (rate in ('then', 'now')),
  state text not null constraint refunds_state_known check (
    state in ('claimable', 'pending', 'completed', 'failed', 'expired', 'cancelled', 'voided')),
  -- the SHA-256 of the token of its claim link; null when the merchant gave the address
  claim_hash bytea constraint refunds_claim_hash_once unique
    constraint refunds_claim_hash_is_sha256 check (length(claim_hash) = 32),
  expires_at timestamptz(3),
  -- the payout that pays it or that paid it last
  payout_id bigint,
  external_id text constraint refunds_external_id_within_limit check (char_length(external_id) <= 255),
  metadata json not null default '{}',
  -- how often it has changed
  version int not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz not null default now(),
  constraint refunds_of_invoice_or_deposit check ((invoice_id is null) <> (deposit_id is null)),
  constraint refunds_links_expire check ((claim_hash is null) = (expires_at is null)),
  constraint refunds_claimed_by_link check (
    claim_hash is not null or state not in ('claimable', 'expired', 'cancelled')),
  constraint refunds_paid_by_a_payout check (state not in ('pending', 'completed') or payout_id is not null)
);
create index refunds_shown on refunds (account_id, created_at desc, id desc) where state <> 'voided';
create index refunds_of_invoice on refunds (invoice_id) where invoice_id is not null;
-- A deposit is given back once.
create unique index refunds_one_of_deposit on refunds (deposit_id) where state in ('claimable', 'pending', 'completed');
create index refunds_claimable on refunds (expires_at) where state = 'claimable';
create index refunds_pending on refunds (payout_id) where state = 'pending';

-- A row for each invoice that was refunded: its lock orders the requests, so that their shares are never more than was paid.
create table refunded_invoices (
  invoice_id text collate "C" primary key,
  account_id text not null,
  asset text not null,
  -- what was paid of it, as invoices said last
  paid_amount numeric(78, 0) not null constraint refunded_invoices_paid_amount_not_negative check (paid_amount >= 0),
  updated_at timestamptz not null default now()
);

-- The refund that a payout pays, and the refund's invoice.
alter table payouts add column refund_id text, add column invoice_id text;
-- Whatever happens, at most one payout of a refund is not proved to have failed.
create unique index payouts_one_of_refund on payouts (refund_id)
  where refund_id is not null and status not in ('failed', 'refused', 'voided');
create index payouts_refund on payouts (account_id, refund_id) where refund_id is not null;
create index payouts_invoice on payouts (account_id, invoice_id) where invoice_id is not null;

revoke delete on refunds, refunded_invoices from quittance_payouts;
