-- What the invoice was credited and the network took back, as far as it has not come back. 1020 fills it in and checks it,
-- under locks that let others read and write.
alter table invoices add column reversed_amount numeric(78, 0) not null default 0;
alter table invoices add constraint invoices_reversed_amount_not_negative check (reversed_amount >= 0) not valid;
