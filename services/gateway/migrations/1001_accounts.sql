-- Whose balance, invoices and payouts it is. The other services know an account by this id alone.
create table accounts (
  id text primary key,
  name text not null constraint accounts_name_unique unique,
  created_at timestamptz not null default now(),
  constraint accounts_name_given check (name <> '' and char_length(name) <= 255)
);
