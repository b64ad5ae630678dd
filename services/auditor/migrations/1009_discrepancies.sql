-- Plain names: a case in which an invariant is not true is a discrepancy, and the row up to which a check has seen everything
-- is a watermark.
alter table breaches rename to discrepancies;
alter table discrepancies rename column halts to pauses_payouts;
alter table discrepancies rename constraint breaches_pkey to discrepancies_pkey;
alter table discrepancies rename constraint breaches_times_positive to discrepancies_times_positive;

alter table checks rename column extent to scope;
alter table checks rename column marks to watermarks;
alter table checks rename constraint checks_extent_known to checks_scope_known;

alter table halts rename column breaches to discrepancies;
alter table halts rename column announced_at to notified_at;

-- An accepted discrepancy is recognised by its subject.
update discrepancies set subject = 'write-offs ' || substr(subject, length('losses ') + 1) where subject like 'losses %';
