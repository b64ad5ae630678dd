-- What payers have chosen, and which invoices still wait for the choice.
grant select on invoices.asset_choices to quittance_auditor;
grant select (id, account_id, status, assets, currency, amount_fiat, expires_at) on invoices.unchosen_invoices to quittance_auditor;
