-- Every address ever given out, watched for ever: late money is found. Canonical form.
create table addresses (
  chain text collate "C" not null,
  address text collate "C" not null,
  invoice_id text collate "C" not null,
  derivation_index int not null,
  -- how far the chain was followed when the address was given out; null before it was followed at all
  given_height int,
  -- Contract-sent native money leaves no trace in a block, only in the balance. From here on: when to look
  -- at the balance next (null: never), at which height it was last explained in full, the time up to which
  -- all such money is known, and what lay there before the address was given out.
  balance_check_at timestamptz,
  balance_height int,
  balance_known_until timestamptz,
  balance_before numeric(78, 0),
  constraint addresses_given_once primary key (chain, address)
);
create index addresses_balance_due on addresses (chain, balance_check_at) where balance_check_at is not null;

-- Addresses are derived in blocks of 32 indexes; each number is taken by one replica. Gaps are harmless: the
-- index stands beside each address.
create sequence ethereum_address_blocks minvalue 0 maxvalue 67108863 no cycle;
