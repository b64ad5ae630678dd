-- Lists of what is rare in an account: without these, a page and its total read all payouts or refunds of the account. Most
-- payouts are mined and most refunds completed, which the indexes of all find at once.
create index payouts_of_status on payouts (account_id, status, created_at desc, seq desc)
  where status in ('reserved', 'signed', 'broadcast', 'failed');
create index payouts_of_asset on payouts (account_id, asset, created_at desc, seq desc)
  where status not in ('requested', 'refused', 'voided');
