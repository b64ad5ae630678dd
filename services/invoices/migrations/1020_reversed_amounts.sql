-- The check reads every invoice: before the first row is locked.
alter table invoices validate constraint invoices_reversed_amount_not_negative;
update invoices i set reversed_amount = reversed.amount
from (
  select invoice_id, sum(amount) as amount from deposits d
  where state = 'reversed' and disposition = 'credit' and not exists (
    select from deposits o
    where o.chain = d.chain and o.outpoint = d.outpoint and o.id <> d.id
      and (o.state in ('seen', 'settled', 'missing')
        or (o.state = 'reversed' and o.disposition = 'credit' and o.id > d.id)))
  group by invoice_id) as reversed
where i.id = reversed.invoice_id and i.reversed_amount <> reversed.amount;
