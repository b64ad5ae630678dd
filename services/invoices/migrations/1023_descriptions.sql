-- What the merchant says of an invoice: a text that the payment page shows, and keys and texts of its own, which mean nothing
-- here. They stay in the order in which they were given, so they are no jsonb.
alter table invoices
  add column description text,
  add column metadata json not null default '{}';
