-- A merchant asks that a payout is not paid. The chain worker decides, where it would sign the payout: a replica without the
-- lease does not know whether signing is paused.
alter table payouts add column cancel_requested_at timestamptz(3);
create index payouts_cancel_requested on payouts (asset, seq) where status = 'reserved' and cancel_requested_at is not null;
