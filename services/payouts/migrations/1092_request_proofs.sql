-- The requests of merchants that ask for payouts, as they came, each with the gateway's assertion by which it was believed. The
-- ledger is shown it with each hold. Payouts, batches, refunds and rules name it by the id of the assertion.
create table request_proofs (
  assertion_id text collate "C" primary key,
  assertion text not null,
  method text not null,
  path text not null,
  body bytea not null,
  created_at timestamptz(3) not null default now()
);
revoke update, delete on request_proofs from quittance_payouts;
-- The request that has stored the rule; null of rules of older releases.
alter table automatic_payouts add column assertion_id text collate "C";
