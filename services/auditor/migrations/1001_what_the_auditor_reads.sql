-- The auditor compares what the other services have written down, in one snapshot of the one database they share. It
-- may read what its questions name and nothing else: no signed bytes, no secrets, no body of a request or a delivery. It
-- reads what the services say to each other, for an event on its way is money in motion, and with it what of that is
-- passed on to merchants; but not what was parked, only that it was.
grant usage on schema ledger, payouts, invoices, webhooks to quittance_auditor;

grant select on
  ledger.transfers, ledger.entries, ledger.balances, ledger.holds, ledger.unresolved, ledger.reversals, ledger.write_offs,
  ledger.outbox, ledger.inbox,
  payouts.payouts, payouts.payments, payouts.wallets, payouts.unswept_deposits, payouts.utxos,
  payouts.outbox, payouts.inbox, payouts.halted_assets,
  invoices.invoices, invoices.deposits, invoices.cursors, invoices.outbox, invoices.inbox,
  webhooks.accounts, webhooks.endpoint_queues, webhooks.deliveries, webhooks.outbox, webhooks.inbox
to quittance_auditor;

grant select (id, chain, wallet, replacement_group, attempt, purpose, asset, amount, tx_hash, state, block_height, block_hash,
  final_at, created_at, updated_at) on payouts.transactions to quittance_auditor;
grant select (event_id, kind) on ledger.dead_letters, payouts.dead_letters, invoices.dead_letters, webhooks.dead_letters to quittance_auditor;
grant select (account_id, sequence, kind, created_at) on webhooks.events to quittance_auditor;
grant select (key, account_id, event_types, enabled, created_at, deleted_at) on webhooks.endpoints to quittance_auditor;
