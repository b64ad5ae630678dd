-- The id of the gateway's assertion by which a merchant's request was believed: one assertion creates one payout, one batch or
-- one refund, however often it is sent. Null of what no request of a merchant created, and of older releases.
alter table payouts add column assertion_id text collate "C";
alter table payout_batches add column assertion_id text collate "C";
alter table refunds add column assertion_id text collate "C";
create unique index payouts_assertion_once on payouts (assertion_id) where assertion_id is not null;
create unique index payout_batches_assertion_once on payout_batches (assertion_id) where assertion_id is not null;
create unique index refunds_assertion_once on refunds (assertion_id) where assertion_id is not null;
