-- Addresses whose readers have stopped a code that they had not asked for: the account sends them none for a while. It outlives the
-- recipients, so that removing and adding an address again changes nothing.
create table mail_stops (
  account_id text not null,
  address text not null,
  stopped_at timestamptz not null,
  constraint mail_stops_address_once primary key (account_id, address)
);
