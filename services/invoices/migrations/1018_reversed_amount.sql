-- What the invoice was credited and the network took back, as far as it has not come back.
alter table invoices add column reversed_amount numeric(78, 0) not null default 0
  constraint invoices_reversed_amount_not_negative check (reversed_amount >= 0);
update invoices i set reversed_amount = reversed.amount
from (
  select invoice_id, sum(amount) as amount from deposits d
  where state = 'reversed' and disposition = 'credit' and not exists (
    select from deposits o
    where o.chain = d.chain and o.outpoint = d.outpoint and o.id <> d.id
      and (o.state in ('seen', 'settled', 'missing')
        or (o.state = 'reversed' and o.disposition = 'credit' and o.id > d.id)))
  group by invoice_id) as reversed
where i.id = reversed.invoice_id;
