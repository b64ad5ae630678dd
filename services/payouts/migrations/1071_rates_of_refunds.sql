-- The rates of now that a refund with the rate `now` was computed with, with their sources: of the asset, and of the invoice's
-- currency. Null with the rate `then`, and of refunds that an older release stored.
alter table refunds
  add column rates_now json,
  add constraint refunds_rates_of_now check (rates_now is null or rate = 'now');
