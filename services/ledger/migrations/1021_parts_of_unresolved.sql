-- A part of an unresolved deposit can be returned. Its hold takes the part out of `amount`, and the rest stays open. A hold of a
-- deposit that is not the deposit's `payout_id` is one of a part.
alter table unresolved
  -- what payouts of parts are paying back now, and what they have paid back, with their network fees
  add column returning_amount numeric(78, 0) not null default 0
    constraint unresolved_returning_amount_not_negative check (returning_amount >= 0),
  add column returned_amount numeric(78, 0) not null default 0
    constraint unresolved_returned_amount_not_negative check (returned_amount >= 0);

-- The returns of a deposit, whose sum is compared with it.
create index holds_of_deposit on holds (deposit_id) where deposit_id is not null;
