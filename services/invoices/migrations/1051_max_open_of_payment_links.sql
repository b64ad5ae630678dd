-- How many invoices of a link may be open at a time: anybody may begin a payment.
alter table payment_links add column max_open int not null default 100
  constraint payment_links_max_open_positive check (max_open > 0);
