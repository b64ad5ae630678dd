-- By which request of its account a payout was asked for, and to whom it would be paid: what a signer compares.
create table hold_proofs (
  payout_id text collate "C" primary key,
  -- The id of the gateway's assertion; null of a hold of a former release's rule or claim link, see UNPROVEN_HOLDS_UNTIL.
  assertion_id text collate "C",
  -- The line of a batch, 0 elsewhere.
  item int not null,
  use text not null constraint hold_proofs_use_known check (use in ('once', 'link', 'rule', 'unproven')),
  -- canonical
  destination text not null,
  -- The payout of a claim link has failed, and another one of the link has taken its place.
  replaced boolean not null default false,
  created_at timestamptz not null default now(),
  constraint hold_proofs_have_a_request check ((assertion_id is null) = (use = 'unproven'))
);
-- A request pays once, and a line of a batch; a rule pays as long as it stands.
create unique index hold_proofs_once on hold_proofs (assertion_id, item) where use in ('once', 'link') and not replaced;
revoke delete, update on hold_proofs from quittance_ledger;
grant update (replaced) on hold_proofs to quittance_ledger;
