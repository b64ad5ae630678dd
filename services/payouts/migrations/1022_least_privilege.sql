-- What was promised, signed or received is never removed, and what a transaction pays is never changed.
revoke update, delete on payments from quittance_payouts;
revoke delete on payouts, transactions, holdings, coins, coin_cursors, wallets, wallet_histories, halted_assets
  from quittance_payouts;
