-- A payout that has left its chain may come back, unless another transaction has used its nonce since.
grant select (nonce) on payouts.transactions to quittance_auditor;
