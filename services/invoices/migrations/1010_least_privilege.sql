-- What money has to do with is never removed: an address once given stays given, a deposit once seen stays seen.
revoke delete on invoices, deposits, addresses, address_series, cursors from quittance_invoices;
revoke update on blocks, spends from quittance_invoices;
