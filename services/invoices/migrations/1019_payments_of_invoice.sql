-- Of an invoice's payments the newest and the largest are shown: each is found without a look at the others.
create index deposits_of_invoice_by_time on deposits (invoice_id, first_seen_at, id);
create index deposits_of_invoice_by_amount on deposits (invoice_id, asset, amount, id);
drop index deposits_of_invoice;
create index sightings_of_invoice_by_time on sightings (invoice_id, first_seen_at, outpoint);
create index sightings_of_invoice_by_amount on sightings (invoice_id, asset, amount, outpoint);
drop index sightings_of_invoice;
