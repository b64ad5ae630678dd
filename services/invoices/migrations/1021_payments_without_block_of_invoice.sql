-- Both locks first, while nothing is held: a table that is read already cannot be locked for more without a deadlock. What
-- waits for a block is little, so it does not take long.
lock table deposits, sightings in access exclusive mode;
drop index if exists deposits_of_invoice;
create index if not exists sightings_of_invoice_by_time on sightings (invoice_id, first_seen_at, outpoint);
create index if not exists sightings_of_invoice_by_amount on sightings (invoice_id, asset, amount, outpoint);
drop index if exists sightings_of_invoice;
