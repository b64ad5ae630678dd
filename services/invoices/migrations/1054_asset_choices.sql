-- What payers have chosen, with the terms of the invoice before the choice. The auditor compares each with the invoice that it became.
-- Choices from before this table are in none.
create table asset_choices (
  invoice_id text collate "C" primary key,
  account_id text collate "C" not null,
  asset text not null,
  -- what the payer could choose from
  assets text[] not null,
  currency text not null,
  -- in hundredths of the currency
  amount_fiat numeric(78, 0) not null constraint asset_choices_amount_fiat_positive check (amount_fiat > 0),
  chosen_at timestamptz not null,
  constraint asset_choices_asset_offered check (asset = any(assets))
);
revoke update, delete on asset_choices from quittance_invoices;
