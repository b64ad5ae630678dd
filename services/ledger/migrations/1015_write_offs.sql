-- A plain name: what reversals of a payment could not take back is written off, and recovered when the payment comes again.
alter table losses rename to write_offs;
alter table write_offs rename constraint losses_pkey to write_offs_pkey;
alter table write_offs rename constraint losses_amount_left_not_negative to write_offs_amount_left_not_negative;
