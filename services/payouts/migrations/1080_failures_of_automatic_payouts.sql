-- How many payouts of a rule have failed since one was mined or its merchant replaced the rule: each makes it wait longer.
alter table automatic_payouts
  add column failures int not null default 0 constraint automatic_payouts_failures_not_negative check (failures >= 0);
