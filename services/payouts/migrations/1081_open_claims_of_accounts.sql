-- What open claim links promise of a balance: an automatic payout leaves it there.
create index refunds_promised on refunds (account_id, asset) where state = 'claimable';
