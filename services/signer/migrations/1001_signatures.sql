-- What this wallet has signed. A second signature for a payout is given only when it excludes every earlier one, so none of it
-- is ever changed or taken away.

-- The hot wallet of the recovery phrase that was used first on a chain.
create table wallets (
  chain text collate "C" constraint wallets_one_a_chain primary key,
  hot_address text collate "C" not null,
  created_at timestamptz not null default now()
);
create table signatures (
  id bigint generated always as identity primary key,
  chain text collate "C" not null,
  -- SHA-256 of the order, in hex
  digest text collate "C" not null,
  -- The order itself: the same one gives the same bytes.
  terms jsonb not null,
  tx_hash text collate "C" not null,
  -- The most its fee can take, in the chain's native asset.
  max_cost numeric(78, 0) not null constraint signatures_max_cost_not_negative check (max_cost >= 0),
  -- EVM: of all transactions of a wallet with the same nonce one can be mined.
  wallet text collate "C",
  nonce bigint,
  -- Solana: it is in no block above the height, and in none up to the slot that was final when it was signed.
  valid_to_height bigint,
  final_slot bigint,
  created_at timestamptz not null,
  constraint signatures_order_once unique (chain, digest),
  constraint signatures_wallet_has_nonce check ((wallet is null) = (nonce is null)),
  constraint signatures_validity_is_whole check ((valid_to_height is null) = (final_slot is null))
);
-- For the fees of a day.
create index signatures_of_chain on signatures (chain, created_at);

-- Payouts that were found to be held, asked for and within the limits, as they were then.
create table cleared_payouts (
  payout_id text collate "C" primary key,
  account_id text collate "C" not null,
  asset text collate "C" not null,
  amount numeric(78, 0) not null constraint cleared_payouts_amount_positive check (amount > 0),
  -- canonical
  destination text collate "C" not null,
  cleared_at timestamptz not null
);
-- For the sums of an hour and of a day.
create index cleared_payouts_of_asset on cleared_payouts (asset, cleared_at);
create index cleared_payouts_of_account on cleared_payouts (account_id, asset, cleared_at);

create table signed_payouts (
  payout_id text collate "C" not null references cleared_payouts,
  signature bigint not null references signatures,
  primary key (payout_id, signature)
);

-- Bitcoin: of all transactions that spend an output one can be mined. A signature is for the amounts of its inputs.
create table spent_outpoints (
  outpoint text collate "C" not null,
  signature bigint not null references signatures,
  amount numeric(78, 0) not null,
  primary key (outpoint, signature)
);
create index spent_outpoints_of_signature on spent_outpoints (signature);

-- Where payouts go that were asked for before the ledger kept that with their holds: as payouts had it at the upgrade.
create table former_destinations (
  payout_id text collate "C" primary key,
  -- canonical
  destination text collate "C" not null
);

-- Solana: signatures of which the blocks have shown that they can never be mined.
create table non_inclusions (
  signature bigint primary key references signatures,
  proven_at timestamptz not null
);

-- Payouts signed until now: it knows by which wallet, and which of its transactions can still be mined.
do $$
begin
  if to_regclass('payouts.known_hot_wallets') is null then
    return;
  end if;
  insert into wallets (chain, hot_address)
    select chain, address from payouts.known_hot_wallets
    union select chain, address from payouts.wallets where role = 'hot'
    on conflict do nothing;
  create temporary table former on commit drop as
    select id, replacement_group, chain, tx_hash, max_cost, terms, wallet, nonce, created_at, valid_to_height,
      coalesce(final_height_when_signed, 0) as final_slot
    from payouts.transactions where purpose = 'payout' and state in ('signed', 'broadcast');
  insert into signatures (chain, digest, terms, tx_hash, max_cost, wallet, nonce, valid_to_height, final_slot, created_at)
    select chain, 'of payouts: ' || id, coalesce(terms, '{}'), tx_hash, max_cost,
      case when nonce is not null then wallet end, nonce,
      valid_to_height, case when valid_to_height is not null then final_slot end, created_at
    from former order by id;
  insert into cleared_payouts (payout_id, account_id, asset, amount, destination, cleared_at)
    select distinct p.id::text, p.account_id, p.asset, m.amount, m.address, p.created_at
    from former join payouts.payments m using (replacement_group) join payouts.payouts p on p.id = m.payout_id;
  insert into signed_payouts (payout_id, signature)
    select m.payout_id::text, s.id
    from former f join payouts.payments m using (replacement_group)
      join signatures s on s.chain = f.chain and s.tx_hash = f.tx_hash;
  insert into spent_outpoints (outpoint, signature, amount)
    select utxo->>'outpoint', s.id, (utxo->>'amount')::numeric
    from former f join signatures s on s.chain = f.chain and s.tx_hash = f.tx_hash,
      lateral jsonb_array_elements(f.terms->'utxos') as utxo
    where f.chain = 'bitcoin';
  insert into former_destinations (payout_id, destination)
    select id::text, address from payouts.payouts where status in ('requested', 'awaiting_approval', 'reserved', 'planned');
end $$;

revoke update, delete on wallets, signatures, cleared_payouts, signed_payouts, spent_outpoints, non_inclusions
  from quittance_signer;
revoke insert, update, delete on former_destinations from quittance_signer;
