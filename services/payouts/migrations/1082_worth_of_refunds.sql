-- The currency of a refund's invoice, and what the refund is worth in it, in hundredths. Null of deposits, and of refunds that an
-- older release stored.
alter table refunds
  add column currency text,
  add column worth_cents numeric(78, 0) constraint refunds_worth_not_negative check (worth_cents >= 0),
  add constraint refunds_worth_has_currency check ((worth_cents is null) = (currency is null));
