-- Only operators and migrations know new assets; what a balance was decided by stays.
revoke insert, delete on assets from quittance_ledger;
revoke update, delete on deposits from quittance_ledger;
revoke delete on balances, holds, reversals, unresolved, losses, quotes from quittance_ledger;
