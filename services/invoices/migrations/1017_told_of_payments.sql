-- What merchants were told of a payment stands beside it: a list in its invoice grew with each payment, and anybody can
-- send thousands.
alter table deposits
  -- 'invoice.late_payment' was told
  add column late_told boolean not null default false,
  -- 'invoice.payment_reversed' was told: of the block it lost, or 'settled' when it was taken back after it was final
  add column reversal_told text;
-- 'invoice.payment_reversed' was told of its vanishing at this time
alter table sightings add column gone_told_at timestamptz;

update deposits d set late_told = true
from (
  select substr(key, length('invoice.late_payment:') + 1) as id
  from invoices, unnest(announced) as key where key like 'invoice.late\_payment:%') as told
where d.id = told.id;
update deposits d set reversal_told = told.how
from (
  select split_part(substr(key, length('invoice.payment_reversed:') + 1), '.', 1) as id,
    split_part(substr(key, length('invoice.payment_reversed:') + 1), '.', 2) as how
  from invoices, unnest(announced) as key where key like 'invoice.payment\_reversed:%') as told
where d.id = told.id and told.how = case when d.state = 'dropped' then d.block_hash else 'settled' end;
update sightings s set gone_told_at = s.gone_at
from invoices i
where i.id = s.invoice_id and s.gone_at is not null
  and 'invoice.payment_reversed:' || s.outpoint || '.' || (extract(epoch from s.gone_at) * 1000)::bigint = any(i.announced);
