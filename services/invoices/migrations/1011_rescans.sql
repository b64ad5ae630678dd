-- What an operator asked to be read once more. Whoever follows the chain goes from `next_height` to `until_height`.
create table rescans (
  id bigint generated always as identity primary key,
  chain text collate "C" not null,
  from_height int not null constraint rescans_from_a_height check (from_height >= 0),
  next_height int not null,
  -- how far the chain was followed when it began; null: it has not begun
  until_height int,
  -- the first and the last block that were read, by its hash: what comes next must follow it
  first_height int,
  last_hash text,
  -- how often in a row the node did not tell what comes next
  tries int not null default 0,
  -- payments that had been missed
  found int not null default 0,
  asked_at timestamptz not null,
  ended_at timestamptz,
  -- why it could not come to its end
  failure text
);
create index rescans_open on rescans (chain, id) where ended_at is null;
-- Nobody asks for it from within the service.
revoke insert, delete on rescans from quittance_invoices;
