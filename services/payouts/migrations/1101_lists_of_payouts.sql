-- As before, with the payouts that wait for an approval. A file of its own, so that payouts are not locked for longer.
alter table payouts validate constraint payouts_status_known;
alter table payouts validate constraint payouts_approval_expires;
alter table payouts validate constraint payouts_waits_for_approvals;
drop index payouts_of_status;
create index payouts_of_status on payouts (account_id, status, created_at desc, seq desc)
  where status in ('awaiting_approval', 'reserved', 'signed', 'broadcast', 'failed');
