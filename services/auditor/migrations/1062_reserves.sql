-- What the ledger's entries say that we hold, up to a transfer. Without a row below, nothing is summed up yet.
create table custody_snapshots (
  asset text collate "C" primary key,
  amount numeric(78, 0) not null
);
create table custody_snapshots_until (
  only_row boolean primary key default true constraint custody_snapshots_until_is_one check (only_row),
  transfer_seq bigint not null
);
grant truncate on custody_snapshots to quittance_auditor;

-- The operator's own money on our addresses: what was there beside what is booked when it was measured first, what came to
-- it, and what an operator has said to have taken. Never changed.
create table operator_funds (
  seq bigint generated always as identity primary key,
  asset text collate "C" not null,
  amount numeric(78, 0) not null,
  cause text not null constraint operator_funds_cause_known check (cause in ('measured', 'arrived', 'withdrawn')),
  noted_at timestamptz not null
);
create unique index operator_funds_measured_once on operator_funds (asset) where cause = 'measured';
revoke update, delete on operator_funds from quittance_auditor;

-- What each sweep has left at its address, which no later sweep takes.
create table sweep_remains (
  tx_hash text collate "C" primary key,
  asset text collate "C" not null,
  amount numeric(78, 0) not null
);
revoke update, delete on sweep_remains from quittance_auditor;

-- How far the addresses of a chain were looked at in their turn.
create table address_rounds (
  chain text collate "C" primary key,
  after_address text collate "C" not null
);

grant select (chain, address, invoice_id) on invoices.addresses to quittance_auditor;
grant select (max_cost, swept_address) on payouts.transactions to quittance_auditor;
grant select (symbol, dust) on ledger.assets to quittance_auditor;
