-- Since when the balance does not cover a claimed refund: its merchant is told once, until a claim is covered.
alter table refunds add column unfunded_since timestamptz(3);

-- The failure of an automatic payout that its merchant was told of last; null after a run without a failure.
alter table automatic_payouts add column told_error text;
