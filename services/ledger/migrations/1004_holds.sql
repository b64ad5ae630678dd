-- One row a payout, once decided never decided again. A `voided` row without amounts is a tombstone: the
-- payout was given up before its hold was asked for, and can never be placed.
create table holds (
  payout_id text collate "C" primary key,
  account_id text not null,
  asset text not null,
  amount numeric(78, 0) constraint holds_amount_positive check (amount > 0),
  network_fee numeric(78, 0) constraint holds_network_fee_not_negative check (network_fee >= 0),
  state text not null
    constraint holds_state_known check (state in ('placed', 'refused', 'voided', 'settled', 'released')),
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint holds_amounts_known check (state = 'voided' or (amount is not null and network_fee is not null))
) with (fillfactor = 85); -- most rows change once more, from placed to what became of them
