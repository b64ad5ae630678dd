-- As for payouts: lists of what is rare in an account. A file of its own, so that payouts are not locked meanwhile.
create index refunds_of_state on refunds (account_id, state, created_at desc, id desc)
  where state in ('claimable', 'pending', 'failed', 'expired', 'cancelled');
create index refunds_of_asset on refunds (account_id, asset, created_at desc, id desc) where state <> 'voided';
create index refunds_external_id on refunds (account_id, external_id) where external_id is not null;
