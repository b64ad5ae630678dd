-- When the newest check of each asset began that has compared the records with each other and with the asset's chain, and
-- after which no discrepancy was known that could be money lost. Who signs payouts asks for it.
create table passed_checks (
  asset text collate "C" primary key,
  began_at timestamptz not null
);
revoke delete on passed_checks from quittance_auditor;
