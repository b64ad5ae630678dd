-- As before, with the payouts that are in a plan. A file of its own, so that payouts are not locked for longer.
alter table payouts validate constraint payouts_status_known;
drop index payouts_of_status;
create index payouts_of_status on payouts (account_id, status, created_at desc, seq desc)
  where status in ('awaiting_approval', 'reserved', 'planned', 'signed', 'broadcast', 'failed');
