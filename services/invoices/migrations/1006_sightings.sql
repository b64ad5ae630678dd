-- Payments that are seen and in no block that counts: they may still be replaced or dropped. A row ends when the
-- payment becomes a deposit.
create table sightings (
  chain text collate "C" not null,
  -- names the payment on its chain, as the deposit's does
  outpoint text collate "C" not null,
  invoice_id text collate "C" not null,
  asset text not null,
  address text not null,
  amount numeric(78, 0) not null constraint sightings_amount_positive check (amount > 0),
  tx_hash text not null,
  output_index int not null,
  first_seen_at timestamptz not null,
  -- when it was found to wait no more, and not to have come into a block either
  gone_at timestamptz,
  constraint sightings_once primary key (chain, outpoint)
);
create index sightings_of_invoice on sightings (invoice_id);
create index sightings_waiting on sightings (chain) where gone_at is null;
