-- Payments that a node told twice: of a block, while they stand in another block of the chain that was followed, or with
-- other contents. One of the two answers was wrong. The chain is followed all the same; the deposit is held back until the
-- node tells it once.
create table contradictions (
  chain text collate "C" not null,
  -- the block that was told to hold it as well
  block_hash text not null,
  block_height int not null,
  -- the payment's outpoint, or the transaction and the address that native money left
  outpoint text collate "C" not null,
  -- the deposit it is known as; null: money that left an address
  deposit_id text,
  invoice_id text collate "C",
  found_at timestamptz not null,
  -- when to ask the node again
  look_at timestamptz not null,
  ended_at timestamptz,
  -- how it ended
  outcome text constraint contradictions_outcome_known check (outcome in ('earlier', 'later', 'reorganised')),
  constraint contradictions_once primary key (chain, block_hash, outpoint),
  constraint contradictions_end_with_an_outcome check ((ended_at is null) = (outcome is null)),
  constraint contradictions_of_deposits_name_their_invoice check ((deposit_id is null) = (invoice_id is null))
);
create index contradictions_open on contradictions (chain, look_at) where ended_at is null;
create index contradictions_of_invoice on contradictions (invoice_id) where ended_at is null;
revoke delete on contradictions from quittance_invoices;
