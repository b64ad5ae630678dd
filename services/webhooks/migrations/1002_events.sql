-- How far each account's sequence has come. Its row lock makes the sequence gapless: whoever numbers an
-- account's events holds it until they are committed, so a reader never sees a number before a smaller one.
create table accounts (
  account_id text primary key,
  last_sequence bigint not null
) with (fillfactor = 70);

-- What each account was to be told, in this order as long as it is kept.
create table events (
  account_id text not null,
  sequence bigint not null constraint events_sequence_positive check (sequence > 0),
  id text not null constraint events_id_once unique,
  kind text not null,
  created_at timestamptz not null,
  -- the invoice or payout, and how often it had changed
  resource_id text not null,
  version bigint not null,
  -- json, not jsonb: it is signed and sent as it stands, and never searched
  data json not null,
  constraint events_sequence_once primary key (account_id, sequence)
);
