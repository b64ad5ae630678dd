-- Why a deposit went to no balance, as invoices decided it. Null of deposits that an older release settled.
alter table unresolved add column reason text collate "C"
  constraint unresolved_reason_known check (reason in ('late', 'underpaid', 'wrong_asset', 'too_small'));
