-- Whose a deposit is and whether it waits for a decision: money that does can go back to a payer.
alter table holdings
  -- unknown for deposits that were told of before this was kept: those are returned by a payout of the accepted money
  add column account_id text,
  add column invoice_id text,
  add column disposition text constraint holdings_disposition_known check (disposition in ('credit', 'unresolved'));

-- The deposit whose money a payout gives back; null when it pays from the balance.
alter table payouts add column returns_deposit text;
-- Another one may come only when that one gave the money back.
create unique index payouts_one_return_of_deposit on payouts (returns_deposit)
  where status not in ('failed', 'refused', 'voided');
