-- What merchants offer again and again: each payment of a link is an invoice of its own.
create table payment_links (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  description text not null,
  metadata json not null default '{}',
  currency text not null constraint payment_links_currency_known
    check (currency in ('USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CAD', 'AUD')),
  -- in hundredths of the currency; null: the payer says how much, within the limits
  amount_fiat numeric(78, 0) constraint payment_links_amount_fiat_positive check (amount_fiat > 0),
  amount_min numeric(78, 0) constraint payment_links_amount_min_positive check (amount_min > 0),
  amount_max numeric(78, 0) constraint payment_links_amount_max_positive check (amount_max > 0),
  -- one asset; or those that the payer may choose from; both null: all that can be used at the time
  asset text,
  assets text[] constraint payment_links_assets_not_empty check (cardinality(assets) > 0),
  -- minutes, of each invoice; null: as the account has set it when the payment begins
  expires_in int constraint payment_links_expires_in_positive check (expires_in > 0),
  succeed_url text,
  timeout_url text,
  -- null: for ever
  valid_until timestamptz,
  created_at timestamptz not null,
  deactivated_at timestamptz,
  constraint payment_links_fixed_or_limited
    check (amount_fiat is null or (amount_min is null and amount_max is null)),
  constraint payment_links_limits_in_order check (amount_min <= amount_max),
  constraint payment_links_one_or_several_assets check (asset is null or assets is null)
);
create index payment_links_of_account on payment_links (account_id, id);
-- What a link is stays known: invoices name it.
revoke delete on payment_links from quittance_invoices;

-- The link that an invoice was created by.
alter table invoices add column payment_link_id text collate "C";
