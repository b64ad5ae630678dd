-- What an invoice is priced in, and the locked rate of that currency with its sources: null for US dollars. Invoices of the
-- former release write neither. 1031 checks the constraints, under a lock that lets others read and write.
alter table invoices
  add column currency text not null default 'USD',
  add column fiat_rate jsonb;
alter table invoices
  add constraint invoices_currency_known
    check (currency in ('USD', 'EUR', 'GBP', 'CHF', 'JPY', 'CAD', 'AUD')) not valid,
  add constraint invoices_fiat_rate_of_other_currencies
    check ((currency = 'USD') = (fiat_rate is null)) not valid;
