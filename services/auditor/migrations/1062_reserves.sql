-- What the ledger's entries say that we hold, up to the transfer of balance_snapshots_until.
create table custody_snapshots (
  asset text collate "C" primary key,
  amount numeric(78, 0) not null
);
insert into custody_snapshots (asset, amount)
  select asset, sum(amount) from ledger.entries
  where bucket = 'custody' and transfer_seq <= (select transfer_seq from balance_snapshots_until) group by asset;

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

-- What lay at addresses that were given out beyond what was booked there, when each was looked at last. None: no row.
create table address_remains (
  chain text collate "C",
  address text collate "C",
  asset text collate "C",
  amount numeric(78, 0) not null constraint address_remains_positive check (amount > 0),
  primary key (chain, address, asset)
);

-- How far the addresses of a chain were looked at in their turn, and when the last two rounds began.
create table address_rounds (
  chain text collate "C" primary key,
  after_address text collate "C" not null,
  began_at timestamptz not null,
  -- null: none has ended
  ended_round_began_at timestamptz
);

grant select (chain, address) on invoices.addresses to quittance_auditor;
grant select (max_cost, swept_address) on payouts.transactions to quittance_auditor;
grant select (symbol, dust) on ledger.assets to quittance_auditor;
