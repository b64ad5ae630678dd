-- Every movement of money, once: `op` names what happened in the world (deposit:…, reversal:…, hold:…,
-- settle:…, release:…), so that hearing of it twice books it once. The columns after it are what must be
-- the same when it is heard again.
create table transfers (
  seq bigint generated always as identity primary key,
  op text collate "C" not null constraint transfers_op_once unique,
  kind text not null
    constraint transfers_kind_known check (kind in ('deposit', 'reversal', 'hold', 'settle', 'release')),
  account_id text not null,
  asset text not null,
  amount numeric(78, 0) not null constraint transfers_amount_positive check (amount > 0),
  network_fee numeric(78, 0) not null default 0
    constraint transfers_network_fee_not_negative check (network_fee >= 0),
  detail text not null default '',
  created_at timestamptz not null default now()
);

-- The two or more sides of a transfer. A merchant's bucket grows with what we owe; `custody` is what we
-- hold and falls below zero as much as all the others are above it; `fees` is what we earned, `loss` and
-- `network` what we spent. No foreign keys: a key from here would lock the row that everybody pays into.
create table entries (
  seq bigint generated always as identity primary key,
  transfer_seq bigint not null,
  account_id text,
  bucket text not null
    constraint entries_bucket_known
    check (bucket in ('available', 'held', 'unresolved', 'custody', 'fees', 'loss', 'network')),
  asset text not null,
  amount numeric(78, 0) not null constraint entries_amount_not_zero check (amount <> 0),
  constraint entries_account_fits_bucket
    check ((account_id is not null) = (bucket in ('available', 'held', 'unresolved')))
);
create index entries_of_transfer on entries (transfer_seq);

-- A transfer's entries are written by one statement and sum to zero, or nothing of it stands.
create function refuse_unbalanced_entries() returns trigger language plpgsql as $$
begin
  if exists (select from written group by transfer_seq, asset having sum(amount) <> 0) then
    raise exception 'entries of a transfer do not sum to zero'
      using errcode = 'check_violation', constraint = 'entries_sum_to_zero', table = 'entries';
  end if;
  return null;
end $$;

create trigger entries_sum_to_zero after insert on entries
  referencing new table as written for each statement execute function refuse_unbalanced_entries();

-- What is booked stays booked: a mistake is corrected by another transfer.
revoke update, delete, truncate on transfers, entries from quittance_ledger;
