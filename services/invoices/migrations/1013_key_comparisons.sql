-- Whether payouts has the keys of the addresses that we derive from a public key, as it said when it was asked last. All
-- replicas go by it, and those that are started while payouts is away. Without a row it has not said so yet.
create table key_comparisons (
  chain text collate "C" not null,
  -- the first address of our public key
  first_address text collate "C" not null,
  -- the first address of the keys of payouts
  named_address text not null,
  compared_at timestamptz not null,
  constraint key_comparisons_once primary key (chain, first_address)
);
revoke delete on key_comparisons from quittance_invoices;
