-- What merchants ask for. Amounts are in the asset's smallest unit, dollars in cents. Ids begin with the
-- time they were made at, so that rows and the pages of their indexes are written at the end.
create table invoices (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  external_id text,
  asset text not null,
  chain text not null,
  amount_fiat numeric(78, 0) not null constraint invoices_amount_fiat_positive check (amount_fiat > 0),
  -- the rate the amount due was reckoned with; the quote around it says where it came from
  usd_rate numeric not null constraint invoices_usd_rate_positive check (usd_rate > 0),
  quote jsonb not null,
  amount_due numeric(78, 0) not null constraint invoices_amount_due_positive check (amount_due > 0),
  -- how much less than the amount due still counts as paid, in basis points
  tolerance_bps int not null default 0
    constraint invoices_tolerance_below_all check (tolerance_bps between 0 and 9999),
  min_confirmations int not null
    constraint invoices_min_confirmations_positive check (min_confirmations > 0),
  dust numeric(78, 0) not null constraint invoices_dust_not_negative check (dust >= 0),
  status text not null default 'pending'
    constraint invoices_status_known
    check (status in ('pending', 'confirmed', 'partially_paid', 'paid', 'expired')),
  pending_amount numeric(78, 0) not null default 0
    constraint invoices_pending_amount_not_negative check (pending_amount >= 0),
  paid_amount numeric(78, 0) not null default 0
    constraint invoices_paid_amount_not_negative check (paid_amount >= 0),
  created_at timestamptz not null,
  -- null: never
  expires_at timestamptz,
  paid_at timestamptz,
  -- when it was decided that no money can make it paid any more
  closed_at timestamptz,
  succeed_url text,
  timeout_url text,
  -- canonical; the key that can spend from it is derived at the index
  address text not null,
  derivation_index int not null,
  -- grows with each change; a receiver of events drops what is older than it knows
  version int not null default 1,
  -- what was announced of it, each once
  announced text[] not null default '{}',
  constraint invoices_paid_at_when_paid check ((status = 'paid') = (paid_at is not null)),
  constraint invoices_closed_when_expired check (status <> 'expired' or closed_at is not null)
) with (fillfactor = 90);

-- A list's pages, newest first, read from the index alone.
create index invoices_of_account on invoices (account_id, id) include (asset);
create index invoices_of_account_by_status on invoices (account_id, status, id);
create index invoices_of_account_by_external_id on invoices (account_id, external_id, id)
  where external_id is not null;
-- What may expire, the oldest first.
create index invoices_by_expiry on invoices (chain, expires_at)
  where closed_at is null and status in ('pending', 'partially_paid');
