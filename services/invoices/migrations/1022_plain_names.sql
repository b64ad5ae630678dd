-- The names of docs/glossary.md. Invoices and the command line of the former release are stopped before this migration.
-- The tables are locked in the order in which the service locks their rows.
lock table invoices, deposits in access exclusive mode;
alter table invoices rename column announced to reported_events;
alter table invoices rename column clock_until to extended_until;
alter table deposits rename column late_told to late_reported;
alter table deposits rename column reversal_told to reversal_reported;

alter table sightings rename to mempool_payments;
alter table mempool_payments rename column gone_at to dropped_at;
alter table mempool_payments rename column gone_told_at to drop_reported_at;
alter table mempool_payments rename constraint sightings_once to mempool_payments_once;
alter table mempool_payments rename constraint sightings_amount_positive to mempool_payments_amount_positive;
alter index sightings_waiting rename to mempool_payments_open;
alter index sightings_of_invoice_by_time rename to mempool_payments_of_invoice_by_time;
alter index sightings_of_invoice_by_amount rename to mempool_payments_of_invoice_by_amount;

alter table spare_addresses rename to address_pool;
alter table address_pool rename constraint spare_addresses_once to address_pool_once;
alter table address_pool rename constraint spare_addresses_no_two_alike to address_pool_no_two_alike;

alter table cursors rename column caught_up_at to synced_at;
alter table contradictions rename column look_at to check_at;
alter table rescans rename column looks_asked_to to balances_requested_to;
