-- The same before the choice of the asset.
create index unchosen_invoices_open_of_payment_link on unchosen_invoices (payment_link_id)
  where payment_link_id is not null and status = 'pending';
