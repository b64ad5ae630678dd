-- Two more kinds: `accept` moves unresolved money into the balance, `network` is what our own transactions cost us
-- on their chains. That is no merchant's affair, so it has no account.
alter table transfers
  drop constraint transfers_kind_known,
  add constraint transfers_kind_known
    check (kind in ('deposit', 'reversal', 'hold', 'settle', 'release', 'accept', 'network')),
  alter column account_id drop not null,
  add constraint transfers_account_fits_kind check ((account_id is null) = (kind = 'network'));
