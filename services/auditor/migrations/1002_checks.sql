-- Each check of the books, and up to which row of the growing tables it has seen everything. The next one need not look
-- at what is older: what was found there stands in breaches until a whole check does not find it any more.
create table checks (
  seq bigint generated always as identity primary key,
  -- whole: every row there is; recent: what is newer than the last check; again: every row, of what looked wrong only
  extent text not null constraint checks_extent_known check (extent in ('whole', 'recent', 'again')),
  began_at timestamptz not null,
  ended_at timestamptz not null,
  -- no breach that could be money lost was seen
  was_right boolean not null,
  marks jsonb not null,
  -- by chain: null when it was compared, else why it could not be
  chains jsonb not null
);

-- What the entries up to a transfer come to, balance by balance: with this the entries after it are enough to know what
-- each balance should show. Made anew by each whole check.
create table sums (
  account_id text collate "C" not null,
  asset text collate "C" not null,
  bucket text collate "C" not null,
  amount numeric(78, 0) not null,
  primary key (account_id, asset, bucket)
);
create table sums_until (
  only_row boolean primary key default true constraint sums_until_is_one check (only_row),
  transfer_seq bigint not null
);
grant truncate on sums to quittance_auditor;
