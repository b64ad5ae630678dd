-- Networks of a kind share the numbers: an address is given out once, whichever of its networks it is for.
create sequence bitcoin_address_blocks minvalue 0 maxvalue 67108863 no cycle;

-- Addresses of chains whose keys have no public derivation: the key holder names them ahead, invoices take them.
create table spare_addresses (
  chain text collate "C" not null,
  derivation_index int not null,
  -- canonical
  address text collate "C" not null,
  constraint spare_addresses_once primary key (chain, derivation_index),
  constraint spare_addresses_no_two_alike unique (chain, address)
);

-- The index from which the next ones are asked for.
create table address_series (
  chain text collate "C" primary key,
  next_index int not null constraint address_series_not_negative check (next_index >= 0)
);
