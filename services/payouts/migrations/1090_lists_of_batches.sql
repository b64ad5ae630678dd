-- A merchant lists its batches. A line that the balance did not cover says what the balance had, by the line's number.
create index payout_batches_of_account on payout_batches (account_id, created_at, id);
alter table payout_batches add column available jsonb not null default '{}';
