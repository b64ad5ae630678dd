-- Invoices whose payer chooses the asset, until the choice: then the row moves to invoices, with the same id. They have no
-- rates, amount due or address, so no payment can arrive for them.
create table unchosen_invoices (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  external_id text,
  description text,
  metadata json not null default '{}',
  currency text not null constraint unchosen_invoices_currency_known
    check (currency in ('USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CAD', 'AUD')),
  -- in hundredths of the currency
  amount_fiat numeric(78, 0) not null constraint unchosen_invoices_amount_fiat_positive check (amount_fiat > 0),
  -- the assets that the payer may choose from
  assets text[] not null constraint unchosen_invoices_assets_not_empty check (cardinality(assets) > 0),
  tolerance_bps int not null
    constraint unchosen_invoices_tolerance_below_all check (tolerance_bps between 0 and 9999),
  status text not null default 'pending'
    constraint unchosen_invoices_status_known check (status in ('pending', 'expired')),
  created_at timestamptz not null,
  -- null: never
  expires_at timestamptz,
  cancelled_at timestamptz,
  succeed_url text,
  timeout_url text,
  payment_link_id text collate "C",
  -- grows with each change, here and after the choice
  version int not null default 1,
  constraint unchosen_invoices_cancelled_when_over
    check (cancelled_at is null or (status = 'expired' and expires_at <= cancelled_at)),
  constraint unchosen_invoices_end_when_expired check (status <> 'expired' or expires_at is not null)
);

-- A list's pages, newest first, and its filters: as of invoices.
create index unchosen_invoices_of_account on unchosen_invoices (account_id, id);
create index unchosen_invoices_of_account_by_status on unchosen_invoices (account_id, status, id);
create index unchosen_invoices_of_account_by_external_id_prefix
  on unchosen_invoices (account_id, external_id text_pattern_ops, id) where external_id is not null;
create index unchosen_invoices_of_account_by_amount on unchosen_invoices (account_id, amount_fiat, id);
create index unchosen_invoices_of_link on unchosen_invoices (account_id, payment_link_id, id)
  where payment_link_id is not null;
-- What may expire, the oldest first.
create index unchosen_invoices_by_expiry on unchosen_invoices (expires_at, id) where status = 'pending';
