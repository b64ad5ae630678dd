-- What the auditor has said of each asset last. While an asset is halted nothing new is signed for it; what was signed
-- before is followed and sent again.
create table halted_assets (
  asset text primary key,
  -- the number of the halt: a message about an earlier one comes too late
  halt bigint not null,
  halted_at timestamptz not null default now(),
  resumed_at timestamptz
);
