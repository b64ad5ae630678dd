-- The open invoices of a link are counted for each payment of it. In a file of its own: no other lock is held meanwhile.
create index invoices_open_of_payment_link on invoices (payment_link_id)
  where payment_link_id is not null and status in ('pending', 'partially_paid', 'confirmed');
