-- Of 1030.
alter table invoices validate constraint invoices_currency_known;
alter table invoices validate constraint invoices_fiat_rate_of_other_currencies;

-- What an account's new invoices have where a request says nothing. An account without a row has the defaults.
create table invoice_settings (
  account_id text collate "C" primary key,
  currency text not null
    constraint invoice_settings_currency_known
    check (currency in ('USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CAD', 'AUD')),
  -- minutes; null: never
  expires_in int constraint invoice_settings_expires_in_within_limits check (expires_in between 1 and 120),
  -- basis points; null: the operator's
  tolerance_bps int
    constraint invoice_settings_tolerance_within_limits check (tolerance_bps between 0 and 1000)
);
revoke delete on invoice_settings from quittance_invoices;
