-- Payouts that were requested together.
create table payout_batches (
  id text primary key,
  account_id text not null,
  mode text not null constraint payout_batches_mode_known check (mode in ('each', 'all_or_nothing')),
  lines int not null constraint payout_batches_lines_within_limit check (lines between 1 and 500),
  -- The lines that have no payout, each with what was wrong with it. The others are read from their payouts.
  unpaid_lines json not null default '[]',
  created_at timestamptz(3) not null default now(),
  -- From then on nothing of it changes any more, beside its payouts.
  finished_at timestamptz(3)
);
create index payout_batches_unfinished on payout_batches (created_at) where finished_at is null;
revoke delete on payout_batches from quittance_payouts;

alter table payouts
  add column batch_id text constraint payouts_batch_exists references payout_batches (id),
  add column batch_line int,
  add constraint payouts_batch_has_line check ((batch_id is null) = (batch_line is null));
create unique index payouts_batch_line_once on payouts (batch_id, batch_line) where batch_id is not null;
