-- Lists of what is rare in an account: without these, a page and its total read all payouts or refunds of the account. Most
-- payouts are mined and most refunds completed, which the indexes of all find at once.
create index payouts_of_status on payouts (account_id, status, created_at desc, seq desc)
  where status in ('reserved', 'signed', 'broadcast', 'failed');
create index payouts_of_asset on payouts (account_id, asset, created_at desc, seq desc)
  where status not in ('requested', 'refused', 'voided');

create index refunds_of_state on refunds (account_id, state, created_at desc, id desc)
  where state in ('claimable', 'pending', 'failed', 'expired', 'cancelled');
create index refunds_of_asset on refunds (account_id, asset, created_at desc, id desc) where state <> 'voided';
create index refunds_external_id on refunds (account_id, external_id) where external_id is not null;
