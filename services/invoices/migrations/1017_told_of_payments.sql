-- What merchants were told of a payment stands beside it: a list in its invoice grew with each payment, and anybody can
-- send thousands. What was told before stays in the invoice and is honoured there.
alter table deposits
  -- 'invoice.late_payment' was told
  add column late_told boolean not null default false,
  -- 'invoice.payment_reversed' was told: of the block it lost, or 'settled' when it was taken back after it was final
  add column reversal_told text;
-- 'invoice.payment_reversed' was told of its vanishing at this time
alter table sightings add column gone_told_at timestamptz;
